"use strict";

// nearest returns the element that an id names, or the nearest thing around it that is on the page, if there is one.
const nearest = (id, within = document) => {
  try { id = decodeURIComponent(id); } catch { /* as it is */ }
  const found = () => id ? within.querySelector("#" + CSS.escape(id)) : null;
  let target = found();
  for (const cut of [/#.*/, /\.[^.]*$/, /\.[^.]*$/]) {
    if (target || !id) break;
    id = id.replace(cut, "");
    target = found();
  }
  return target;
};

// light opens what an element is folded in, and goes there.
const light = (target) => {
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

// On paper everything is open.
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const one of closed) one.open = true;
});
addEventListener("afterprint", () => {
  for (const one of closed) one.open = false;
});

