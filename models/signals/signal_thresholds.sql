select 'topic' as signal, 0.85 as threshold
