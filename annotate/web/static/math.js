// Shows the text of a problem: inserted as text, then its formulas rendered. Texts come from strangers, so
// nothing here parses them as HTML, and the work and the space a formula may take are bounded.

const LONGEST_FORMULA = 8000;
const MOST_FORMULAS = 3000;
const MOST_STRAYS = 20;
const EXPANSIONS = 1000;
// Own macros multiply the work of each expansion; no problem needs many of them.
const EXPANSIONS_OF_OWN_MACROS = 50;
const DEFINES = /\\(?:[gex]?def|let|futurelet|(?:re)?newcommand|providecommand)(?![a-zA-Z])/;

const UNKNOWN_COMMAND = /Undefined control sequence/;

// The last four belong inside a formula, and stand outside in many texts all the same.
const environments = ["align", "align*", "equation", "equation*", "gather", "gather*", "alignat", "alignat*"];
environments.push("aligned", "gathered", "cases", "array");
const DELIMITERS = [
  { left: "$$", right: "$$", display: true },
  { left: "$", right: "$", display: false },
  { left: "\\(", right: "\\)", display: false },
  { left: "\\[", right: "\\]", display: true },
  ...environments.map((name) => ({ left: `\\begin{${name}}`, right: `\\end{${name}}`, display: true })),
];

// An escaped dollar opens no formula. While formulas are looked for, a code point that is no character stands for it.
const DOLLAR = "\ufdd0";

const figure = { opens: "[asy]", closes: "[/asy]" };

let formulas = 0;

// The renderer of auto-render, replaced by one that never throws: whatever cannot be rendered is shown as it was
// written. (The library's own error display sets a style attribute, which the page's policy forbids.)
const library = window.katex;
const renderInto = library.render;
library.render = (given, place, options) => {
  const source = given.replaceAll(DOLLAR, "\\$");
  formulas += 1;
  if (source.length > LONGEST_FORMULA || formulas > MOST_FORMULAS) {
    asWritten(place, source, "Too long to be rendered");
    return;
  }
  // Macros of one formula must not reach into the next: both may be hostile.
  const maxExpand = DEFINES.test(source) ? EXPANSIONS_OF_OWN_MACROS : EXPANSIONS;
  const bounded = () => ({ ...options, maxExpand, macros: { "\\mbox": "\\text" } });
  try {
    renderInto(source, place, { ...bounded(), throwOnError: true });
  } catch (error) {
    if (!UNKNOWN_COMMAND.test(error.message)) {
      asWritten(place, source, String(error.message));
      return;
    }
    // All but the unknown command can be rendered.
    try {
      renderInto(source, place, { ...bounded(), throwOnError: false });
    } catch (again) {
      asWritten(place, source, String(again.message));
    }
    if (place.querySelector(".katex-error")) asWritten(place, source, String(error.message));
  }
};

function asWritten(place, source, why) {
  place.textContent = source;
  place.className = "unrendered";
  place.title = why;
}

// Put the text of a problem into an element.
export function show(element, text) {
  element.replaceChildren();
  formulas = 0;
  for (const part of parts(text)) {
    if (part.figure) {
      element.append(folded(part.text));
      continue;
    }
    const block = document.createElement("div");
    block.className = "prose";
    block.dir = "auto";
    element.append(block);
    fill(block, part.text);
    tidy(block);
  }
}

// A formula whose braces do not match is left as written, and so is a delimiter that nothing closes; what follows
// is rendered all the same.
function fill(block, text) {
  let rest = text.replace(/\\([\\$])/g, (escape, what) => (what === "$" ? DOLLAR : escape));
  for (let strays = 0; rest !== ""; strays += 1) {
    const piece = document.createElement("div");
    piece.textContent = rest;
    window.renderMathInElement(piece, {
      delimiters: DELIMITERS,
      trust: false,
      strict: "ignore",
      maxSize: 20,
      errorCallback: () => {},
    });
    const tail = piece.lastChild;
    const opening = tail.nodeType === Node.TEXT_NODE && DELIMITERS.find(({ left }) => tail.data.startsWith(left));
    rest = "";
    if (opening && strays < MOST_STRAYS) {
      const close = tail.data.indexOf(opening.right, opening.left.length);
      const end = close < 0 ? opening.left.length : close + opening.right.length;
      rest = tail.data.slice(end);
      tail.data = tail.data.slice(0, end);
    }
    block.append(...piece.childNodes);
  }
  block.normalize();
}

// Mark the formulas that are wider than their column, once it is laid out; they scroll, with the keys too.
export function markWide(element) {
  const formulas = [...element.querySelectorAll(".katex-display, .prose span:has(> .katex)")];
  for (const formula of formulas) {
    formula.classList.remove("wide");
    formula.removeAttribute("tabindex");
  }
  // All are measured before any is changed, or each would be laid out anew.
  const wide = formulas.filter((formula) => widest(formula) > formula.closest(".prose").clientWidth);
  for (const formula of wide) {
    formula.classList.add("wide");
    formula.tabIndex = 0;
  }
}

// Formulas break between their parts, so the widest part decides.
function widest(formula) {
  const displayed = formula.classList.contains("katex-display");
  if (displayed) return formula.scrollWidth;
  const widths = Array.from(formula.querySelectorAll(".katex-html > .katex-base"), (part) => part.offsetWidth);
  return Math.max(0, ...widths);
}

// Source of figures, which nothing here can draw, is folded away. One pass, whatever is or is not closed.
function* parts(text) {
  let from = 0;
  for (;;) {
    const start = text.indexOf(figure.opens, from);
    const end = start < 0 ? -1 : text.indexOf(figure.closes, start);
    if (end < 0) break;
    if (start > from) yield { figure: false, text: text.slice(from, start) };
    yield { figure: true, text: text.slice(start + figure.opens.length, end).trim() };
    from = end + figure.closes.length;
  }
  if (from < text.length || from === 0) yield { figure: false, text: text.slice(from) };
}

function folded(source) {
  const details = document.createElement("details");
  details.className = "figure";
  const summary = document.createElement("summary");
  summary.textContent = "Figure (its source; it is not drawn)";
  const code = document.createElement("pre");
  code.textContent = source;
  details.append(summary, code);
  return details;
}

// Line breaks are kept, since many texts mean them; those around a formula on its own line would gape.
function tidy(block) {
  for (const node of block.childNodes) {
    if (node.nodeType !== Node.TEXT_NODE) continue;
    let words = node.data.replaceAll(DOLLAR, "$").replace(/\n[ \t\r\n]*\n/g, "\n\n");
    if (isDisplayed(node.previousSibling) || !node.previousSibling) words = words.replace(/^\s+/, "");
    if (isDisplayed(node.nextSibling) || !node.nextSibling) words = words.replace(/\s+$/, "");
    if (words !== node.data) node.data = words;
  }
  for (const formula of [...block.children]) join(formula);
}

// Lines may break after a formula, so the full stop behind it would begin the next line: hold the two together.
function join(formula) {
  const stop = /^[.,;:!?)\]'"’”]{1,3}/.exec(formula.nextSibling?.data ?? "");
  if (!stop || isDisplayed(formula)) return;
  const both = document.createElement("span");
  both.className = "joined";
  formula.nextSibling.data = formula.nextSibling.data.slice(stop[0].length);
  formula.replaceWith(both);
  both.append(formula, stop[0]);
}

const isDisplayed = (node) => node?.firstChild?.classList?.contains("katex-display") ?? false;
