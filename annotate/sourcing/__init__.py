"""Model-assisted steps of sourcing: what rules cannot decide is asked, read strictly, checked and landed.

Five steps, each with its own prompt: ``best-solution``, ``translate``, ``format`` and ``complete`` work on landed
problems and land new versions of them; ``segment`` cuts documents into problems by line numbers. What a check does
not let pass goes to the landed table ``review_items``, never into a text.
"""
