"use strict";
/* Conversations as their texts have them: a line says who speaks, and what is said stands behind
   "> " in each of its lines, so that no message can pass for another. Pages that show texts of items
   begin with this; `make(tag, kind, text)` is how such a page makes an element of a text. */
const conversations = (() => {
const HEAD = /^\[([1-9]\d{0,8})\] (system|developer|user|assistant|tool)(?: (.*))?$/;
const BREAK = /(\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])/;
const FIRST = 4, LAST = 8, LONG = 1500;

/* The parts of the lines from a place on, as far as they are a conversation: with whose each is. */
function read(lines, from) {
  const parts = [];
  let at = from, number = 0;
  for (; at < lines.length; at++) {
    const head = HEAD.exec(lines[at]);
    if (head && (+head[1] === number + 1 || (+head[1] === number && head[3]))) {
      number = +head[1];
      parts.push({number, role: head[2], more: head[3] || "", quoted: []});
    } else if (parts.length && lines[at].startsWith(">")) parts.at(-1).quoted.push(lines[at]);
    else break;
  }
  return {parts, to: at};
}
const unquoted = lines => lines.join("\n").split(BREAK)
  .map((line, n) => n % 2 ? line : line.replace(/^> ?/, "")).join("");

/* A text without the conversations in it, which stand in lines of their own; and these. */
function taken(text) {
  const plain = [], found = [];
  if (!text.includes("[1] ")) return {plain: text, found};
  const lines = text.split("\n");
  for (let at = 0; at < lines.length;) {
    const {parts, to} = lines[at].startsWith("[1] ") ? read(lines, at) : {parts: [], to: at};
    if (parts.length) {
      found.push(parts);
      plain.push(`[${counted(parts)}, below]`);
      at = to;
    } else plain.push(lines[at++]);
  }
  return {plain: plain.join("\n"), found};
}
/* The parts of a text that is one conversation and nothing else; null for any other. */
function whole(text) {
  if (!text.startsWith("[1] ")) return null;
  const lines = text.split("\n"), {parts, to} = read(lines, 0);
  return to === lines.length ? parts : null;
}
const counted = parts => {
  const count = parts.at(-1).number;
  return `a conversation of ${count.toLocaleString("en")} message${count > 1 ? "s" : ""}`;
};

function said(text, make, kind) {
  if (text.length <= LONG) return make("p", kind, text);
  const fold = make("details", ""), all = make("p", kind, text);
  fold.append(make("summary", "", `${text.slice(0, 200).trim()} \u2026 (all ${text.length.toLocaleString("en")} characters)`), all);
  return fold;
}
/* The parts of one message: what it says, and the tools that it calls. */
function message(parts, make) {
  const [first, ...further] = parts, isTool = first.role === "tool";
  const box = make("div", `turn ${first.role}`);
  const who = make("p", "who", [first.role, first.more].filter(Boolean).join(" "));
  who.append(" ", make("span", "", `${first.number}`));
  box.append(who);
  if (first.quoted.length) box.append(said(unquoted(first.quoted), make, isTool ? "says code" : "says"));
  for (const part of further) {
    box.append(make("p", "call", part.more));
    if (part.quoted.length) box.append(said(unquoted(part.quoted), make, "says code"));
  }
  return box;
}
/* A conversation as an element: of a long one the middle is folded. */
function shown(parts, make) {
  const messages = [];
  for (const part of parts) {
    if (messages.length && messages.at(-1)[0].number === part.number) messages.at(-1).push(part);
    else messages.push([part]);
  }
  const box = make("div", "conversation");
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", counted(parts));
  const boxes = list => list.map(one => message(one, make));
  if (messages.length <= 2 * (FIRST + LAST)) {
    box.append(...boxes(messages));
    return box;
  }
  const middle = messages.slice(FIRST, -LAST), fold = make("details", "between");
  fold.append(make("summary", "", `${middle.length.toLocaleString("en")} messages between`));
  fold.addEventListener("toggle", () => { if (fold.open && fold.children.length === 1) fold.append(...boxes(middle)); });
  box.append(...boxes(messages.slice(0, FIRST)), fold, ...boxes(messages.slice(-LAST)));
  return box;
}
return {taken, whole, shown};
})();
