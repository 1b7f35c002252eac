// The page: who judges, which task is shown, what is chosen, what is saved.

import * as api from "./api.js";
import { markWide, show } from "./math.js";

const at = (id) => document.getElementById(id);
const WORDS = { first: "Candidate 1", second: "Candidate 2", tie: "Tie" };
const KEYS = { 1: "first", 2: "second", 0: "tie", t: "tie", T: "tie" };

const state = {
  annotator: null, // as the server spells it
  fixed: false, // the server was started for one annotator
  tasks: [], // {id, verdict (as landed, or null), choice (not yet saved, or null)}
  current: -1,
  busy: false,
};
const task = () => state.tasks[state.current];
const chosen = () => task()?.choice ?? task()?.verdict ?? null;
const unsaved = (one) => one.choice !== null && one.choice !== one.verdict;

// ── messages

let fading = 0;

function say(words, bad = false) {
  const place = at("message");
  place.textContent = words;
  place.classList.toggle("bad", bad);
  clearTimeout(fading);
  if (!bad) fading = setTimeout(() => (place.textContent = ""), 5000);
}

async function attempt(action) {
  if (state.busy) return;
  state.busy = true;
  paint();
  try {
    await action();
  } catch (error) {
    say(error.message, true);
    if (!(error instanceof api.Refused)) throw error;
  } finally {
    state.busy = false;
    paint();
  }
}

// ── drawing

function tile(one, index) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = String(index + 1);
  button.addEventListener("click", () => open(index));
  item.append(button);
  return item;
}

function paint() {
  const { tasks, current, busy } = state;
  const finished = tasks.filter((one) => one.verdict).length;
  document.body.setAttribute("aria-busy", String(busy));
  at("bar").max = Math.max(tasks.length, 1);
  at("bar").value = finished;
  at("done").textContent = tasks.length ? `${finished} of ${tasks.length} finished` : "";
  at("annotator").textContent = state.annotator ?? "–";
  at("show-names").disabled = state.fixed;
  [...at("list").children].forEach((item, index) => paintTile(item.firstChild, tasks[index], index === current));
  if (!task()) return;
  at("number").textContent = `Task ${current + 1}`;
  const { verdict } = task();
  at("state").textContent = unsaved(task()) ? "not saved" : verdict ? `finished: ${WORDS[verdict]}` : "open";
  at("state").dataset.is = unsaved(task()) ? "unsaved" : verdict ? "done" : "open";
  for (const button of document.querySelectorAll(".choice")) {
    button.setAttribute("aria-pressed", String(button.dataset.verdict === chosen()));
  }
  at("save").disabled = busy || !unsaved(task());
  at("remove").disabled = busy || !verdict;
}

function paintTile(button, one, isCurrent) {
  button.classList.toggle("done", Boolean(one.verdict));
  button.classList.toggle("unsaved", unsaved(one));
  if (isCurrent) button.setAttribute("aria-current", "true");
  else button.removeAttribute("aria-current");
  const status = unsaved(one) ? "not saved" : one.verdict ? `finished, ${WORDS[one.verdict]}` : "open";
  button.setAttribute("aria-label", `Task ${button.textContent}: ${status}`);
}

function fill(place, problem) {
  const heading = (words) => Object.assign(document.createElement("h3"), { textContent: words });
  const body = () => Object.assign(document.createElement("div"), { className: "passage" });
  const [statement, solution] = [body(), body()];
  place.replaceChildren(heading("Problem"), statement, heading("Solution"), solution);
  show(statement, problem.statement);
  if (problem.solution.trim()) show(solution, problem.solution);
  else solution.textContent = "No solution is known.";
  place.scrollTop = 0;
}

// ── moving between tasks

async function open(index) {
  if (index < 0 || index >= state.tasks.length || state.busy) return;
  await attempt(() => load(index));
}

async function load(index) {
  const shown = await api.texts(state.annotator, state.tasks[index].id);
  state.current = index;
  for (const part of ["target", "first", "second"]) fill(at(part), shown[part]);
  at("desk").hidden = at("controls").hidden = false;
  markWide(at("desk"));
  closeRail();
  window.scrollTo(0, 0);
  at("list").children[index].firstChild.scrollIntoView({ block: "nearest" });
  // Enter on a tile would open it again instead of saving what is chosen next.
  if (at("list").contains(document.activeElement)) at("target").focus({ preventScroll: true });
}

function nextOpen(after) {
  const count = state.tasks.length;
  for (let step = 1; step <= count; step += 1) {
    const index = (after + step) % count;
    if (!state.tasks[index].verdict) return index;
  }
  return -1;
}

// ── judging

function choose(verdict) {
  if (!task() || state.busy) return;
  task().choice = verdict;
  paint();
}

function save() {
  if (!task() || !unsaved(task())) return;
  attempt(async () => {
    const [one, number] = [task(), state.current + 1];
    const landed = await api.judge(state.annotator, one.id, one.choice);
    one.verdict = landed.verdict;
    one.choice = null;
    const next = nextOpen(state.current);
    if (next < 0) {
      say(`Task ${number} saved. All ${state.tasks.length} tasks are finished: thank you.`);
    } else {
      say(`Task ${number} saved: ${WORDS[one.verdict]}.`);
      await load(next);
    }
  });
}

function askToRemove() {
  at("confirm-task").textContent = `task ${state.current + 1}`;
  at("confirm").returnValue = "keep";
  at("confirm").showModal();
}

function remove() {
  attempt(async () => {
    const one = task();
    await api.remove(state.annotator, one.id);
    one.verdict = one.choice = null;
    say(`Your judgment of task ${state.current + 1} is removed.`);
  });
}

// ── who judges

async function start(name) {
  const got = await api.tasks(name);
  state.annotator = got.annotator;
  state.tasks = got.tasks.map((one) => ({ ...one, choice: null }));
  state.current = -1;
  sessionStorage.setItem("annotator", state.annotator);
  at("list").replaceChildren(...state.tasks.map(tile));
  if (!state.tasks.length) throw new api.Refused("There is no task: every sampled problem has been withdrawn.");
  await load(Math.max(nextOpen(-1), 0));
}

function askForName(known) {
  const buttons = known.map((name) => {
    const button = document.createElement("button");
    button.type = "button";
    button.dir = "auto";
    button.textContent = name;
    button.addEventListener("click", () => enter(name));
    return button;
  });
  at("known").replaceChildren(...buttons);
  at("known-label").hidden = !known.length;
  at("name").value = "";
  at("name-error").textContent = "";
  at("names").showModal();
}

function enter(name) {
  attempt(async () => {
    try {
      await start(name);
      at("names").close();
    } catch (error) {
      at("name-error").textContent = error.message;
    }
  });
}

async function begin() {
  // The token has become a cookie; it need not stay in the address, the history or a screenshot.
  history.replaceState(null, "", location.pathname);
  const session = await api.session();
  for (const list of document.querySelectorAll(".instructions")) {
    const pair = ([heading, words]) => {
      const [term, about] = [document.createElement("dt"), document.createElement("dd")];
      term.textContent = heading;
      about.textContent = words;
      return [term, about];
    };
    list.replaceChildren(...session.instructions.flatMap(pair));
  }
  state.fixed = session.annotator !== null;
  const name = session.annotator ?? sessionStorage.getItem("annotator");
  if (name) await start(name);
  else askForName(session.known);
}

// ── events

function closeRail() {
  document.body.classList.remove("rail-open");
  at("show-tasks").setAttribute("aria-expanded", "false");
}

at("show-tasks").addEventListener("click", () => {
  const isOpen = document.body.classList.toggle("rail-open");
  at("show-tasks").setAttribute("aria-expanded", String(isOpen));
});
at("show-help").addEventListener("click", () => at("help").showModal());
at("show-names").addEventListener("click", () => {
  if (state.tasks.some(unsaved)) say("A choice is not saved yet: save it, or press Escape at its task.", true);
  else attempt(async () => askForName((await api.session()).known));
});
at("names-form").addEventListener("submit", (event) => {
  event.preventDefault();
  enter(at("name").value);
});
at("names").addEventListener("cancel", (event) => {
  if (!state.annotator) event.preventDefault();
});
at("save").addEventListener("click", save);
at("remove").addEventListener("click", askToRemove);
at("confirm").addEventListener("close", () => {
  if (at("confirm").returnValue === "remove") remove();
});
for (const button of document.querySelectorAll(".choice")) {
  button.addEventListener("click", () => choose(button.dataset.verdict));
}
window.addEventListener("resize", () => markWide(at("desk")));
window.addEventListener("beforeunload", (event) => {
  if (state.tasks.some(unsaved)) event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const focus = event.target.closest("button, input, summary, a");
  // A formula wider than its column scrolls by the same keys.
  if (event.key.startsWith("Arrow") && event.target.matches(".wide")) return;
  if (event.key in KEYS) choose(KEYS[event.key]);
  else if (event.key === "ArrowLeft") open(state.current - 1);
  else if (event.key === "ArrowRight") open(state.current + 1);
  else if (event.key === "Escape") choose(null);
  else if (event.key === "?") at("help").showModal();
  // Enter on another button than a choice is that button's own.
  else if (event.key === "Enter" && (!focus || focus.matches(".choice, #save"))) save();
  else return;
  event.preventDefault();
});

attempt(begin);
