
"use strict";
const box = document.getElementById("narrow");
const items = document.querySelectorAll(".item");
const told = document.getElementById("narrowed");
box.hidden = false;
box.addEventListener("input", () => {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  let left = 0;
  for (const item of items) {
    const text = item.textContent.toLowerCase();
    item.hidden = !words.every((word) => text.includes(word));
    left += item.hidden ? 0 : 1;
  }
  told.textContent = words.length ? left + " of " + items.length : "";
});
