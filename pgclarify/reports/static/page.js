"use strict";
(() => {
  // Buttons that choose rows of the table whose id they name. Of each table, what shows all of it again.
  const showAll = new Map();
  for (const group of document.querySelectorAll("[data-filters]")) {
    const table = document.getElementById(group.dataset.filters);
    const buttons = [...group.querySelectorAll("button")];
    const choose = (wanted) => {
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.wanted === wanted));
      for (const row of table.tBodies[0].rows) row.hidden = wanted !== "all" && row.dataset.is !== wanted;
    };
    group.hidden = false;
    for (const button of buttons) button.addEventListener("click", () => choose(button.dataset.wanted));
    showAll.set(table, () => choose("all"));
  }

  // What a link leads to is unfolded, with everything around it, and is not left out of its table.
  const unfold = (hash) => {
    const target = document.getElementById(hash.slice(1));
    for (let part = target; part; part = part.parentElement) {
      if (part instanceof HTMLDetailsElement) part.open = true;
      if (part.hidden && part instanceof HTMLTableRowElement) showAll.get(part.closest("table"))();
    }
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", () => unfold(location.hash));
  // A link to where the page is already changes nothing that the browser would tell.
  addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link) unfold(link.getAttribute("href"));
  });
  unfold(location.hash);

  // On paper nothing can be unfolded, and no button be pressed.
  let folded = [];
  let left = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    left = [...document.querySelectorAll("tr[hidden]")];
    for (const part of folded) part.open = true;
    for (const row of left) row.hidden = false;
  });
  addEventListener("afterprint", () => {
    for (const part of folded) part.open = false;
    for (const row of left) row.hidden = true;
    folded = [];
    left = [];
  });
})();
