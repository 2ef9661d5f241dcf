(() => {
const $ = id => document.getElementById(id);
const SIZE = 25, LONG = 20000;

/* The file is the same on any day, so the age of recordings is told here. */
for (const place of document.querySelectorAll("[data-since]")) {
  const day = moment => Math.floor(moment / 864e5), days = day(Date.now()) - day(Date.parse(place.dataset.since));
  if (days >= 0) place.textContent = days < 1 ? " (today)" : ` (${days} day${days > 1 ? "s" : ""} ago)`;
}
/* On paper nothing can be unfolded: measures are there, and of conditions and tables what is open. */
addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("main details.suite:not([open])")) {
    one.open = true;
    one.dataset.printed = "1";
  }
});
addEventListener("afterprint", () => {
  for (const one of document.querySelectorAll("[data-printed]")) {
    one.open = false;
    delete one.dataset.printed;
  }
});
for (const button of document.querySelectorAll("[data-svg]")) {
  button.addEventListener("click", () => {
    const svg = document.querySelector(`#figure-${button.dataset.svg} svg`);
    const text = '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(svg);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], {type: "image/svg+xml"}));
    link.download = button.dataset.svg + ".svg";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}

/* What no reader sees (control characters, marks that turn the direction of text) is shown as an
   escape, as on a terminal. */
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|[\ud800-\udfff]/gu;
const seen = text => text.replace(UNSEEN, c => {
  const n = c.codePointAt(0);
  return n < 256 ? "\\x" + n.toString(16).padStart(2, "0")
    : n < 65536 ? "\\u" + n.toString(16).padStart(4, "0") : "\\U" + n.toString(16).padStart(8, "0");
});
const make = (tag, kind, text) => {
  const one = document.createElement(tag);
  if (kind) one.className = kind;
  if (text !== undefined) one.textContent = seen(text);
  return one;
};

async function unpack() {
  const packed = $("packed").textContent.trim();
  const bytes = Uint8Array.from(atob(packed), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

function browse(data) {
  const {words, replies, lines, prompts, rows, flips} = data;
  const count = rows.judge.length;
  const word = n => n < 0 ? "" : words[n];
  const promptOf = n => n < 0 ? null : prompts[n].map(line => lines[line]).join("\n");

  /* Kinds of records: every trial, or pairs of trials that contradict one another. */
  const views = [];
  const has = kind => flips.some(flip => flip[2] === kind);
  if (flips.length) views.push(["flips", `flips, side by side (${flips.length.toLocaleString("en")})`]);
  for (const [kind, said] of [["wording", "flips by wording"], ["order", "flips by order"], ["replicate", "flips by replicate"]])
    if (has(kind)) views.push([kind, said]);
  views.push(["trials", "every trial"]);
  if ($("evidence").dataset.before === "1") views.unshift(["before", "then and now, changed first"]);
  for (const [value, said] of views) {
    const option = make("option", "", said);
    option.value = value;
    $("f-view").append(option);
  }
  for (const key of ["judge", "suite"])
    for (const n of [...new Set(rows[key])]) {
      const option = make("option", "", words[n]);
      option.value = n;
      $("f-" + key).append(option);
    }

  let lowered = null, found = [], page = 0;
  const search = text => {
    if (!lowered) lowered = {
      words: words.map(t => t.toLowerCase()), replies: replies.map(t => t.toLowerCase()),
      lines: lines.map(t => t.toLowerCase()),
    };
    const hit = list => list.map(t => t.includes(text));
    const [inWords, inReplies, inLines] = [hit(lowered.words), hit(lowered.replies), hit(lowered.lines)];
    const inPrompts = prompts.map(ids => ids.some(id => inLines[id]));
    return i => inReplies[rows.reply[i]] || inPrompts[rows.prompt[i]] || inWords[rows.said[i]]
      || inWords[rows.trial[i]] || inReplies[rows.oldReply[i]] || inWords[rows.oldSaid[i]];
  };
  const filter = () => {
    const view = $("f-view").value, judge = $("f-judge").value, suite = $("f-suite").value;
    const outcome = $("f-outcome").value, item = $("f-item").value.trim().toLowerCase();
    const text = $("f-text").value.toLowerCase();
    const inText = text ? search(text) : null;
    const items = item ? words.map(t => t.toLowerCase().includes(item)) : null;
    const fits = i =>
      (judge === "" || rows.judge[i] === +judge) && (suite === "" || rows.suite[i] === +suite)
      && (outcome === "" || (outcome === "wrong" ? rows.right[i] === 0 : rows.kind[i] === +outcome))
      && (!items || items[rows.item[i]]) && (!inText || inText(i));
    found = [];
    if (view === "trials") {
      for (let i = 0; i < count; i++) if (fits(i)) found.push([i]);
    } else if (view === "before") {
      for (const wanted of [1, 0])
        for (let i = 0; i < count; i++) if (rows.changed[i] === wanted && fits(i)) found.push([i, null, "before"]);
    } else {
      for (const flip of flips)
        if ((view === "flips" || flip[2] === view) && (fits(flip[0]) || fits(flip[1]))) found.push(flip);
    }
    page = 0;
    show();
  };

  const said = (kind, text, right) => make("span", "said" + (kind || right === 0 ? " bad" : ""),
    kind === 0 ? text : (kind === 1 ? "unparsed: " : "failed: ") + text);
  const excerpt = text => make("span", "excerpt", text.length > 90 ? text.slice(0, 90) + " …" : text);
  const place = i => [word(rows.template[i]), word(rows.order[i]), word(rows.condition[i]),
    "replicate " + rows.replicate[i]].filter(Boolean).join(", ");
  const outcomeOf = i => said(rows.kind[i], word(rows.said[i]), rows.right[i]);
  const labelled = i => (rows.chosen[i] >= 0 && rows.chosen[i] !== rows.said[i] ? ` means ${word(rows.chosen[i])}` : "")
    + (rows.label[i] >= 0 ? ` (label ${word(rows.label[i])})` : "");

  const block = (side, title, text, marked) => {
    side.append(make("p", "label", title));
    const pre = make("pre");
    pre.tabIndex = 0;
    pre.setAttribute("role", "group");
    pre.setAttribute("aria-label", title);
    if (marked) pre.append(...marked);
    else if (text.length > LONG) {
      pre.textContent = seen(text.slice(0, LONG));
      const all = make("button", "", `Show all ${text.length.toLocaleString("en")} characters`);
      all.type = "button";
      all.addEventListener("click", () => {
        /* In pieces that are laid out when they come into view: one piece would take seconds. */
        const shown = seen(text), parts = [];
        for (let i = 0; i < shown.length; i += LONG) {
          const part = document.createElement("div");
          part.textContent = shown.slice(i, i + LONG);
          parts.push(part);
        }
        pre.replaceChildren(...parts);
        all.remove();
      });
      side.append(pre, all);
      return;
    } else pre.textContent = seen(text);
    side.append(pre);
  };
  /* A prompt as it is; the conversations in it stand below the rest of it. */
  const promptBlock = (side, title, text, marked) => {
    const {plain, found: talks} = conversations.taken(text);
    block(side, title, plain, marked);
    side.append(...talks.map(parts => conversations.shown(parts, make)));
  };
  const replyText = n => n < 0 ? "(no reply)" : replies[n] || "(empty)";
  const promptText = i => promptOf(rows.prompt[i]) ?? "(not in the judgment log)";

  function fill(body, record) {
    const [a, b, kind] = record;
    const sides = make("div", "sides");
    if (kind === "before") {
      const texts = [replyText(rows.oldReply[a]), replyText(rows.reply[a])];
      const marked = texts[0].length + texts[1].length <= 2 * LONG ? difference(...texts) : [null, null];
      ["Baseline: reply", "Now: reply"].forEach((title, n) => {
        const side = make("div", "side");
        block(side, title, texts[n], marked[n]);
        sides.append(side);
      });
      const side = make("div", "side");
      promptBlock(side, "Now: prompt", promptText(a));
      body.append(sides, side);
      return;
    }
    if (b === undefined) {
      const [prompt, reply] = [make("div", "side"), make("div", "side")];
      promptBlock(prompt, "Prompt", promptText(a));
      block(reply, "Reply", replyText(rows.reply[a]));
      sides.append(prompt, reply);
    } else {
      const both = (one, other, known) =>
        known && one.length + other.length <= 2 * LONG ? difference(one, other) : [null, null];
      const plain = [a, b].map(i => conversations.taken(promptText(i)).plain);
      const marked = both(...plain, rows.prompt[a] >= 0 && rows.prompt[b] >= 0);
      const replies = both(replyText(rows.reply[a]), replyText(rows.reply[b]), true);
      [a, b].forEach((i, n) => {
        const side = make("div", "side");
        const head = make("p", "", place(i) + " ");
        head.append(outcomeOf(i), make("span", "", labelled(i)));
        side.append(head);
        promptBlock(side, "Prompt", promptText(i), marked[n]);
        block(side, "Reply", replyText(rows.reply[i]), replies[n]);
        sides.append(side);
      });
    }
    body.append(sides);
  }

  function render(record) {
    const [a, b, kind] = record;
    const li = make("li"), details = make("details"), summary = make("summary");
    summary.append(make("span", "who", word(rows.judge[a])), make("span", "id", `${word(rows.suite[a])} / ${word(rows.item[a])}`));
    if (kind === "before") {
      summary.append(make("span", "excerpt", place(a)), said(rows.oldKind[a], word(rows.oldSaid[a])), make("span", "", "→"), outcomeOf(a));
      if (rows.changed[a] === 1) summary.append(make("span", "outcome inconclusive", "changed"));
    } else if (b === undefined) {
      summary.append(make("span", "excerpt", place(a)), outcomeOf(a), make("span", "", labelled(a)));
      if (rows.reply[a] >= 0) summary.append(excerpt(replies[rows.reply[a]]));
    } else {
      const what = {wording: "template", order: "order", replicate: "replicate"}[kind];
      const tag = i => String(kind === "replicate" ? rows.replicate[i] : word(rows[what][i]));
      summary.append(make("span", "excerpt", `${what} ${tag(a)}`), outcomeOf(a), make("span", "", "↔"), make("span", "excerpt", `${what} ${tag(b)}`), outcomeOf(b));
    }
    details.append(summary);
    details.addEventListener("toggle", () => {
      if (details.open && !details.dataset.filled) {
        details.dataset.filled = "1";
        const body = make("div");
        fill(body, record);
        details.append(body);
      }
    });
    li.append(details);
    return li;
  }

  function show() {
    const from = page * SIZE, to = Math.min(from + SIZE, found.length);
    $("records").replaceChildren(...found.slice(from, to).map(render));
    const number = n => n.toLocaleString("en");
    $("count").textContent = found.length
      ? `${number(from + 1)} to ${number(to)} of ${number(found.length)}` : "No trial matches these filters.";
    $("previous").disabled = page === 0;
    $("next").disabled = to >= found.length;
  }

  let waiting = 0;
  const later = () => { clearTimeout(waiting); waiting = setTimeout(filter, 120); };
  for (const id of ["f-view", "f-judge", "f-suite", "f-outcome"]) $(id).addEventListener("change", filter);
  for (const id of ["f-item", "f-text"]) $(id).addEventListener("input", later);
  $("filters").addEventListener("submit", event => { event.preventDefault(); filter(); });
  $("filters").addEventListener("reset", () => setTimeout(filter));
  const turn = step => { page += step; show(); $("count").scrollIntoView({block: "nearest"}); };
  $("previous").addEventListener("click", () => turn(-1));
  $("next").addEventListener("click", () => turn(1));
  filter();
  $("browser").hidden = false;
  $("unpacking").hidden = true;
}

/* The words of two prompts that are not in both, marked: a longest common subsequence of words,
   after what both begin and end with. */
function difference(one, other) {
  const split = text => text.match(/\s+|[^\s]+/g) || [];
  const a = split(one), b = split(other);
  let start = 0, end = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const p = a.slice(start, a.length - end), q = b.slice(start, b.length - end);
  const kept = [new Set(), new Set()];
  if (p.length * q.length <= 4e6) {
    const width = q.length + 1, best = new Uint16Array((p.length + 1) * width);
    for (let i = p.length - 1; i >= 0; i--)
      for (let j = q.length - 1; j >= 0; j--)
        best[i * width + j] = p[i] === q[j] ? best[(i + 1) * width + j + 1] + 1
          : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
    for (let i = 0, j = 0; i < p.length && j < q.length;) {
      if (p[i] === q[j]) { kept[0].add(i++); kept[1].add(j++); }
      else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) i++;
      else j++;
    }
  }
  return [[a, p, kept[0]], [b, q, kept[1]]].map(([all, middle, same]) => {
    const out = [document.createTextNode(seen(all.slice(0, start).join("")))];
    for (let i = 0; i < middle.length;) {
      let j = i;
      const plain = same.has(i);
      while (j < middle.length && same.has(j) === plain) j++;
      const text = middle.slice(i, j).join("");
      out.push(plain || !text.trim() ? document.createTextNode(seen(text)) : make("mark", "", text));
      i = j;
    }
    out.push(document.createTextNode(seen(all.slice(all.length - end).join(""))));
    return out;
  });
}

if (typeof DecompressionStream === "undefined") {
  $("unpacking").textContent = "This browser cannot unpack the evidence (it has no DecompressionStream); a browser from 2023 or later can. Everything above is complete.";
} else {
  unpack().then(browse).catch(error => {
    $("unpacking").textContent = `The evidence cannot be unpacked: ${error}`;
  });
}
})();
