const $ = (id) => document.getElementById(id);

// The token comes behind the address, and is kept for this tab alone: so it is not in the history, and a reload works.
const token = (() => {
  const given = location.hash.match(/^#token=([A-Z2-7]+)$/);
  if (given) {
    sessionStorage.setItem("token", given[1]);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem("token") ?? "";
})();

// ask asks the server, and returns its answer.
const ask = async (path, options = {}) => {
  const headers = { Authorization: "Bearer " + token, ...options.headers };
  const answer = await fetch("/api/" + path, { ...options, headers });
  if (answer.ok) return answer;
  let why = await answer.text();
  try { why = JSON.parse(why).error ?? why; } catch { /* it is a text */ }
  const error = new Error(why.trim());
  error.status = answer.status;
  throw error;
};
const read = async (path, options) => (await ask(path, options)).json();
const query = (values) => new URLSearchParams(values).toString();

// What the capture is now, as the server has told.
let news = {};

const trouble = (text) => { $("trouble").textContent = text; };

const tell = () => {
  document.title = (news.status ? news.status + " · " : "") + news.name;
  $("name").textContent = news.name;
  const last = news.whole && !news.live; // what is missing so far may come
  const bad = ["findings", "failing"].concat(last ? ["incomplete", "nothing"] : []).includes(news.status);
  $("status").textContent = (last || !news.status ? "" : "so far ") + (news.status ?? "");
  $("status").className = bad ? "bad" : !last ? "" : news.status === "clean" ? "good" : "warn";
  const words = news.verdict ?? "";
  $("sum").textContent = words.startsWith(news.status + ": ") ? words.slice(news.status.length + 2) : words;
  const counts = [news.exchanges === 1 ? "1 exchange" : news.exchanges.toLocaleString("en") + " exchanges"];
  if (news.judged < news.exchanges) counts.push(news.judged.toLocaleString("en") + " of them judged");
  else if (!news.whole && !news.live) counts.push("being judged");
  counts.push(news.live ? "being recorded" : "not being recorded");
  $("counts").textContent = counts.join(", ");
  trouble(news.error ?? "");
};

// listen takes the news (server-sent events, which EventSource could not ask for with a token) until the page is closed.
const listen = async () => {
  for (;;) {
    try {
      const body = (await ask("events")).body.pipeThrough(new TextDecoderStream()).getReader();
      for (let rest = ""; ;) {
        const { value, done } = await body.read();
        if (done) break;
        const events = (rest + value).split("\n\n");
        rest = events.pop();
        for (const event of events) {
          const data = event.split("\n").find((line) => line.startsWith("data: "));
          if (data) {
            news = JSON.parse(data.slice(6));
            tell();
            refresh();
          }
        }
      }
      trouble("a2atap has ended, or cannot be reached; what is shown is what was there.");
    } catch (error) {
      if (error.status === 401) return trouble(error.message);
      trouble(error.status ? error.message : "a2atap has ended, or cannot be reached; what is shown is what was there.");
    }
    await new Promise((done) => setTimeout(done, 1000));
  }
};

// once returns a function that runs f, and once more if it is called meanwhile.
const once = (f) => {
  let running = false;
  let again = false;
  return async () => {
    if (running) {
      again = true;
      return;
    }
    running = true;
    do {
      again = false;
      try { await f(); } catch (error) {
        if (error.name !== "AbortError" && error.status !== 503) trouble(error.message);
      }
    } while (again);
    running = false;
  };
};

// The list: of its rows those that are seen are fetched, by pages, and drawn.
const pageRows = 100;
const mostPages = 30;
const mostPixels = 8e6; // of height, which browsers bound
const signs = { error: "!", warning: "?", note: "·" };
const list = { of: "exchanges", filter: "", all: 0, pages: new Map(), serial: 0, at: -1 };

const rowHeight = () => parseFloat(getComputedStyle(document.body).getPropertyValue("--row"));
const seen = () => Math.ceil($("list").clientHeight / rowHeight()) + 1;

// Where the list has more rows than a page can be high, its bar stands for places among them.
const scale = () => Math.max(1, (list.all * rowHeight()) / mostPixels);
const firstSeen = () => Math.max(0, Math.min(list.all - seen() + 1,
  Math.floor(($("list").scrollTop * scale()) / rowHeight())));

const rowAt = (index) => {
  const page = list.pages.get(Math.floor(index / pageRows));
  return page?.rows[index % pageRows];
};

const cells = (row) => Object.fromEntries(list.columns.map((name, i) => [name, row[i]]));

const element = (tag, name, text) => {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
};

const rowElement = (index) => {
  const made = element("div", "row");
  made.setAttribute("role", "option");
  made.id = "row-" + index;
  made.dataset.index = index;
  made.setAttribute("aria-posinset", index + 1);
  made.setAttribute("aria-setsize", list.all);
  made.setAttribute("aria-selected", index === list.at);
  const row = rowAt(index);
  if (!row) {
    made.append(element("span", "n", "…"));
    return made;
  }
  const of = cells(row);
  if (of.severity) made.classList.add(of.severity);
  made.dataset.n = of.n;
  made.append(
    element("span", "sign", signs[of.severity] ?? " "), element("span", "n", of.n),
    element("span", "time", of.time.slice(11, 23)), element("span", "link", of.client + " → " + of.agent),
    element("span", "op", of.op), element("span", "status", of.status || "–"),
    element("span", "ms", of.ms ? of.ms + "ms" : "–"), element("span", "outcome", of.outcome));
  if (list.of === "workflows") made.append(element("span", "size", row[list.columns.length] + " exchanges"));
  made.title = [of.client + " → " + of.agent, of.op, of.outcome, of.rules].filter(Boolean).join("  ");
  return made;
};

// draw draws the rows that are seen.
const draw = () => {
  const space = $("space");
  space.style.height = Math.min(list.all * rowHeight(), mostPixels) + "px";
  const first = firstSeen();
  const last = Math.min(list.all, first + seen());
  const top = scale() === 1 ? first * rowHeight() : $("list").scrollTop;
  const rows = [];
  for (let i = first; i < last; i++) {
    const made = rowElement(i);
    made.style.top = top + (i - first) * rowHeight() + "px";
    rows.push(made);
  }
  space.replaceChildren(...rows);
  const active = $("row-" + list.at);
  if (active) $("list").setAttribute("aria-activedescendant", active.id);
  else $("list").removeAttribute("aria-activedescendant");
};

const say = (answer) => {
  const chosen = $("chosen");
  chosen.className = "faint";
  const n = answer.all.toLocaleString("en");
  if (answer.more) chosen.textContent = `${n} so far; ${answer.looked.toLocaleString("en")} exchanges were looked at …`;
  else if (list.of === "workflows") chosen.textContent = answer.all ? "" : "Nothing has caused anything else.";
  else if (list.filter) chosen.textContent = `${n} of ${news.exchanges.toLocaleString("en")} exchanges match.`;
  else chosen.textContent = "";
};

// fetchSeen fetches the pages that are seen and not as the capture is now.
const fetchSeen = once(async () => {
  if ($("list").hidden) return;
  const { serial, key } = list;
  const first = firstSeen();
  const wanted = new Set([Math.floor(first / pageRows), Math.floor((first + seen() - 1) / pageRows)]);
  for (const page of wanted) {
    if (list.pages.get(page)?.serial === serial) continue;
    let answer;
    try {
      answer = await read("list?" + query({ of: list.of, filter: list.filter, at: page * pageRows, n: pageRows }));
    } catch (error) {
      if (key !== list.key || error.status !== 400) throw error;
      $("chosen").className = "bad";
      $("chosen").textContent = error.message;
      Object.assign(list, { all: 0, pages: new Map() });
      draw();
      return;
    }
    if (key !== list.key) return; // it is another list by now
    const box = $("list");
    const atEnd = list.fresh || list.all > 0 && box.scrollTop + box.clientHeight >= box.scrollHeight - rowHeight();
    const grown = answer.all > list.all;
    list.fresh = list.fresh && !news.version;
    list.all = answer.all;
    list.columns = answer.columns;
    answer.rows.forEach((row, i) => answer.sizes && row.push(answer.sizes[i]));
    list.pages.delete(page);
    list.pages.set(page, { serial: answer.more ? -1 : serial, rows: answer.rows });
    while (list.pages.size > mostPages) list.pages.delete(list.pages.keys().next().value);
    say(answer);
    draw();
    if (grown && atEnd && news.live) box.scrollTop = box.scrollHeight; // the newest stay in sight
    if (answer.more) setTimeout(fetchSeen, 50);
  }
});

const resetList = (of, filter) => {
  const key = of + " " + filter;
  if (list.key === key) return;
  Object.assign(list, { key, of, filter, all: 0, at: -1, fresh: true, pages: new Map(), serial: list.serial + 1 });
  $("list").scrollTop = 0;
  $("list").setAttribute("aria-label", of === "workflows" ? "Workflows" : "Exchanges");
  draw();
};

const show = (index) => {
  const box = $("list");
  const height = rowHeight();
  const at = (index * height) / scale();
  if (at < box.scrollTop) box.scrollTop = at;
  else if (at + height > box.scrollTop + box.clientHeight) box.scrollTop = at + height - box.clientHeight;
};

// openRow opens what a row stands for.
const openRow = (index) => {
  const row = rowAt(index);
  if (!row) return;
  const n = cells(row).n;
  go(list.of === "workflows" ? "workflow=" + n : n);
};

let opening;
const move = (to) => {
  if (!list.all) return;
  list.at = Math.max(0, Math.min(list.all - 1, to));
  show(list.at);
  draw();
  fetchSeen();
  clearTimeout(opening);
  if (!$("detail").hidden && !narrow()) opening = setTimeout(() => openRow(list.at), 150);
};

const narrow = () => matchMedia("(max-width: 60rem)").matches;

// The detail: what is chosen.
const detail = { path: "", open: false, place: "" };

const place = (id) => {
  const target = nearest(id, $("drawn"));
  if (target) light(target);
};

const around = (answer, n) => {
  const links = [];
  const link = (text, hash) => {
    const made = element("a", "", text);
    made.href = "#" + hash;
    links.push(made);
  };
  if (answer.workflow) link(`Workflow ${answer.workflow} (${answer.size} exchanges)`, "workflow=" + answer.workflow);
  for (const task of (answer.tasks ?? []).slice(0, 3)) {
    link("Task " + (task.length > 20 ? task.slice(0, 8) + "…" : task),
      "filter=" + encodeURIComponent(`task:"${task.replace(/["\\]/g, "\\$&")}"`));
  }
  if (n > 1) link("Previous", n - 1);
  detail.next = n < news.exchanges;
  if (detail.next) link("Next", n + 1);
  if (answer.left > 0) links.push(element("span", "faint", `${answer.left.toLocaleString("en")} more are not drawn`));
  $("around").replaceChildren(...links.flatMap((one) => [one, " "]));
};

// replace puts another text into a box, in which what was open, what has the focus and what is in sight stay so. It does
// nothing, and returns false, while somebody marks a text in it.
const replace = (box, html, top) => {
  const marked = getSelection();
  if (!marked.isCollapsed && box.contains(marked.anchorNode)) return false;
  const folded = () => [...box.querySelectorAll("details")].map((one) => {
    const article = one.closest("article");
    return [one.id || (article?.id ?? "") + " " + [...(article ?? box).querySelectorAll("details")].indexOf(one), one];
  });
  const reached = () => [...box.querySelectorAll("a, summary")];
  const open = new Map(folded().map(([name, one]) => [name, one.open]));
  const focus = reached().indexOf(document.activeElement);
  const at = top.scrollTop;
  box.innerHTML = html; // made and escaped by the server, and no script runs in it
  for (const [name, one] of folded()) {
    if (open.has(name)) one.open = open.get(name);
  }
  if (focus >= 0) reached()[focus]?.focus({ preventScroll: true });
  top.scrollTop = at;
  return true;
};

// groupPause is how long what is drawn of many exchanges stays as it is while they grow, in milliseconds.
const groupPause = 3000;

// drawDetail fetches what is chosen, and draws it: what is open, and grows, again and again.
const drawDetail = once(async () => {
  const { path, n, what } = detail;
  const again = detail.drawn === path;
  if (!path || again && !detail.open) return;
  const rest = n || !again ? 0 : detail.at + groupPause - performance.now();
  if (rest > 0) {
    clearTimeout(detail.later);
    detail.later = setTimeout(drawDetail, rest);
    return;
  }
  let answer;
  try { answer = await read(path); } catch (error) {
    if (path !== detail.path) return;
    if (error.status === 503) throw error;
    answer = { html: "", failed: error.message };
  }
  if (path !== detail.path) return;
  Object.assign(detail, { at: performance.now(), open: answer.open || !n && news.live });
  const box = $("drawn");
  if (again) {
    if (detail.html !== answer.html && replace(box, answer.html, $("detail"))) {
      detail.html = answer.html;
      around(answer, n);
    }
    return;
  }
  box.innerHTML = answer.html; // made and escaped by the server, and no script runs in it
  if (answer.failed) box.append(element("p", "bad", answer.failed));
  Object.assign(detail, { drawn: path, html: answer.html });
  $("what").textContent = what;
  detail.answer = answer;
  around(answer, n);
  if (n) for (const one of box.querySelectorAll("details.exchange")) one.open = true;
  $("detail").scrollTop = 0;
  if (detail.place) place(detail.place);
  else if (detail.focus) $("detail").focus();
});

const openDetail = (path, what, n, at) => {
  const same = detail.path === path;
  Object.assign(detail, { path, what, n, place: at });
  $("detail").hidden = false;
  document.body.classList.add("beside");
  draw();
  if (same && detail.drawn === path) {
    if (at) place(at);
    return;
  }
  detail.open = true;
  drawDetail();
};

const closeDetail = () => {
  Object.assign(detail, { path: "", drawn: "" });
  $("detail").hidden = true;
  document.body.classList.remove("beside");
  draw();
};

// Views: what the side shows.
const views = ["exchanges", "workflows", "findings", "failed", "verdict", "send"];
const view = { name: "" };

const drawPart = once(async () => {
  const name = view.name;
  if (!["findings", "failed", "verdict"].includes(name)) return;
  const answer = await read("part?" + query({ name }));
  if (name !== view.name) return;
  const box = $("part");
  if (box.dataset.name !== name) {
    box.innerHTML = view.html = answer.html; // the same
    box.dataset.name = name;
    box.scrollTop = 0;
  } else if (view.html !== answer.html && replace(box, answer.html, box)) view.html = answer.html;
  if (view.place) {
    const target = nearest(view.place, box);
    if (target) light(target);
    view.place = "";
  }
});

const openView = (name, at = "") => {
  Object.assign(view, { name, place: at });
  for (const link of $("views").querySelectorAll("a")) {
    if (link.getAttribute("href") === "#" + name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const lists = name === "exchanges" || name === "workflows";
  $("list").hidden = $("chosen").hidden = !lists;
  $("choose").hidden = name !== "exchanges";
  $("part").hidden = !["findings", "failed", "verdict"].includes(name);
  $("talk").hidden = name !== "send";
  if (name === "send") offer();
  if (lists) {
    resetList(name, name === "exchanges" ? $("filter").value.trim() : "");
    fetchSeen();
  }
  drawPart();
};

// offer offers the agents that messages can be sent to.
const offer = once(async () => {
  const answer = await read("agents");
  const options = answer.agents.map((agent) => {
    const made = element("option", "", agent.name);
    made.value = agent.url;
    return made;
  });
  $("agents").replaceChildren(...options);
  if (!$("to").value && answer.agents.length) $("to").value = answer.agents[0].url;
  $("goes").textContent = answer.recorded
    ? "What goes to a tap is recorded into the capture as any other traffic; what goes elsewhere is not."
    : "It goes to that address, as a2atap send would send it, and into no capture: the one that is shown is not changed.";
});

// goesOn is the task that waits for its client, of the last answer.
let goesOn = {};

const sayGoesOn = (answer) => {
  goesOn = answer.task ? { task: answer.task, context: answer.context } : {};
  $("goeson").hidden = !answer.task;
  $("again").checked = Boolean(answer.task);
  $("task").textContent = answer.task ? "to task " + answer.task + ", which waits for it" : "";
};

// An answer stands with what was sent, in the words of a2atap send, and then raw, with what was found in it.
const answerElement = (asked, answer) => {
  const made = element("article", answer.failed ? "answer failed" : "answer");
  made.append(element("h3", "", asked.text), element("p", "faint", "to " + asked.to), element("pre", "", answer.words),
    element("p", "", answer.verdict));
  const raw = element("div");
  raw.innerHTML = answer.html; // made and escaped by the server, and no script runs in it
  made.append(raw);
  return made;
};

const send = async () => {
  const asked = { to: $("to").value.trim(), text: $("text").value, stream: $("stream").checked, task: "", context: "" };
  if ($("again").checked) Object.assign(asked, goesOn);
  $("sent").className = "faint";
  $("sent").textContent = "It was sent; the answer is waited for …";
  $("send").querySelector("button").disabled = true;
  try {
    const answer = await read("send", {
      method: "POST", body: JSON.stringify(asked), headers: { "Content-Type": "application/json" },
    });
    $("answers").prepend(answerElement(asked, answer));
    while ($("answers").children.length > 20) $("answers").lastChild.remove();
    $("sent").textContent = "";
    $("text").value = "";
    sayGoesOn(answer);
  } catch (error) {
    $("sent").className = "bad";
    $("sent").textContent = error.message;
  }
  $("send").querySelector("button").disabled = false;
};

// go changes the address, and shows what it names.
const go = (hash) => {
  if (location.hash !== "#" + hash) history.pushState(null, "", "#" + hash);
  route();
};

// route shows what the address names: a view, an exchange or a place in one, a workflow, a ladder, a rule.
const route = () => {
  let hash = location.hash.slice(1);
  try { hash = decodeURIComponent(hash); } catch { /* as it is */ }
  const [, name, value] = hash.match(/^(workflow|ladder|filter)=(.*)$/s) ?? [];
  const [, n] = hash.match(/^(\d+)(?:[.#]|$)/) ?? [];
  if (!view.name && (n || name === "workflow" || name === "ladder")) openView(name === "workflow" ? "workflows" : "exchanges");
  if (n) {
    openDetail("exchange?" + query({ n }), "Exchange " + n, Number(n), hash === n ? "" : hash);
  } else if (name === "workflow") {
    openDetail("group?" + query({ workflow: value }), "Workflow " + value);
  } else if (name === "ladder") {
    openDetail("group?" + query({ filter: value }), value ? "What matches " + value : "All exchanges");
  } else if (name === "filter") {
    $("filter").value = value;
    openView("exchanges");
    if (narrow()) closeDetail();
  } else if (views.includes(hash) || !hash) {
    if (narrow() || !hash) closeDetail();
    openView(hash || "exchanges");
  } else {
    openView("findings", hash);
    if (narrow()) closeDetail();
  }
};

// refresh takes what is new.
const refresh = () => {
  list.serial++;
  fetchSeen();
  drawPart();
  drawDetail();
  if (detail.drawn && detail.n < news.exchanges && !detail.next) around(detail.answer, detail.n);
};

addEventListener("hashchange", route);
addEventListener("resize", () => { draw(); fetchSeen(); });
$("list").addEventListener("scroll", () => { draw(); fetchSeen(); });
$("list").addEventListener("click", (event) => {
  const row = event.target.closest(".row");
  if (!row) return;
  list.at = Number(row.dataset.index);
  draw();
  openRow(list.at);
});
$("choose").addEventListener("submit", (event) => {
  event.preventDefault();
  go("filter=" + encodeURIComponent($("filter").value.trim()));
});
$("filter").addEventListener("input", () => {
  if (!$("filter").value && list.filter) go("filter="); // it was cleared
});
$("ladder").addEventListener("click", () => go("ladder=" + encodeURIComponent(list.filter)));

$("send").addEventListener("submit", (event) => {
  event.preventDefault();
  send();
});
$("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.ctrlKey) $("send").requestSubmit();
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  const href = link?.getAttribute("href") ?? "";
  if (!href.startsWith("#")) return;
  let id = href.slice(1);
  try { id = decodeURIComponent(id); } catch { /* as it is */ }
  const target = link.closest("#drawn, .answer")?.querySelector("#" + CSS.escape(id));
  if (target) { // it is here: the address stays what it is
    event.preventDefault();
    light(target);
  } else if (href === location.hash) route(); // no change of the address says so
});

// keysOfList are what keys do where the list has the focus, or nothing has.
const keysOfList = {
  j: () => move(list.at + 1), ArrowDown: () => move(list.at + 1),
  k: () => move(list.at - 1), ArrowUp: () => move(list.at - 1),
  PageDown: () => move(Math.max(list.at, 0) + seen() - 2), PageUp: () => move(list.at - seen() + 2),
  Home: () => move(0), End: () => move(list.all - 1),
  Enter: () => { detail.focus = true; openRow(list.at); },
};

document.addEventListener("keydown", (event) => {
  const at = event.target;
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Escape") {
    if (at.matches("input, textarea, select")) {
      $("list").focus();
    } else if (!$("detail").hidden) {
      go(list.filter && list.of === "exchanges" ? "filter=" + encodeURIComponent(list.filter) : list.of);
      closeDetail();
      $("list").focus();
    }
    return;
  }
  if (at.matches("input, textarea, select")) return;
  const onList = at === $("list") || at === document.body;
  if (event.key === "/" && !$("choose").hidden) {
    $("filter").focus();
    $("filter").select();
  } else if (/^[1-9]$/.test(event.key) && views[event.key - 1]) go(views[event.key - 1]);
  else if (onList && !$("list").hidden && keysOfList[event.key]) keysOfList[event.key]();
  else return;
  event.preventDefault();
});

route();
listen();
