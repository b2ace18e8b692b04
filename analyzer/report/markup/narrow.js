
"use strict";
const bar = document.getElementById("bar");
const box = document.getElementById("narrow");
const told = document.getElementById("narrowed");
const items = [...document.querySelectorAll(".item")];
const groups = [...document.querySelectorAll(".group")];
let texts; // of the items, in lower case

// wanted returns the words that have to be in an item, and those that must not.
const wanted = () => {
  const words = { with: [], without: [] };
  for (const [, minus, quoted, word] of box.value.toLowerCase().matchAll(/(-?)(?:"([^"]*)"?|(\S+))/g)) {
    const text = quoted ?? word;
    if (text && text !== "-") words[minus ? "without" : "with"].push(text);
  }
  return words;
};

const narrow = () => {
  texts ??= items.map((item) => item.textContent.toLowerCase());
  const words = wanted();
  let left = 0;
  items.forEach((item, i) => {
    item.hidden = !words.with.every((word) => texts[i].includes(word)) ||
      words.without.some((word) => texts[i].includes(word));
    left += item.hidden ? 0 : 1;
  });
  const any = words.with.length + words.without.length > 0;
  for (const group of groups) {
    group.hidden = !group.querySelector(".item:not([hidden])");
    group.dataset.open ??= group.open ? "open" : "";
    group.open = any ? !group.hidden : group.dataset.open !== "";
  }
  told.textContent = any ? left + " of " + items.length + " shown." : "";
};

// reveal opens what the address names is folded in, or the nearest thing around it that is on the page, and goes there.
const reveal = () => {
  let id = location.hash.slice(1);
  try { id = decodeURIComponent(id); } catch { /* as it is */ }
  let target = document.getElementById(id);
  for (const cut of [/#.*/, /\.[^.]*$/, /\.[^.]*$/]) {
    if (target || !id) break;
    id = id.replace(cut, "");
    target = document.getElementById(id);
  }
  if (!target) return;
  if (box && target.closest("[hidden]")) {
    box.value = "";
    narrow();
  }
  for (let at = target; at; at = at.parentElement) {
    if (at.tagName === "DETAILS") at.open = true;
  }
  for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
  target.classList.add("lit");
  const focus = target.tagName === "DETAILS" ? target.querySelector("summary") : target;
  if (focus === target) target.tabIndex = -1;
  focus.focus({ preventScroll: true });
  target.scrollIntoView({ block: target.offsetHeight > innerHeight / 2 ? "start" : "center" });
};
addEventListener("hashchange", reveal);
document.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (link && link.getAttribute("href") === location.hash) reveal(); // no change of the address says so
});

// On paper everything is open.
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const one of closed) one.open = true;
});
addEventListener("afterprint", () => {
  for (const one of closed) one.open = false;
});

if (box) {
  bar.hidden = document.getElementById("words").hidden = false;
  box.addEventListener("input", narrow);
}
if (location.hash) reveal();
