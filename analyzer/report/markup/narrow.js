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

// reveal goes to what the address names.
const reveal = () => {
  const target = nearest(location.hash.slice(1));
  if (!target) return;
  if (box && target.closest("[hidden]")) {
    box.value = "";
    narrow();
  }
  light(target);
};
addEventListener("hashchange", reveal);
document.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (link && link.getAttribute("href") === location.hash) reveal(); // no change of the address says so
});

if (box) {
  bar.hidden = document.getElementById("words").hidden = false;
  box.addEventListener("input", narrow);
}
if (location.hash) reveal();
