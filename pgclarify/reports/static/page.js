"use strict";
(() => {
  // What a link leads to is unfolded, with everything around it.
  const unfold = () => {
    const target = document.getElementById(location.hash.slice(1));
    for (let part = target; part; part = part.parentElement) {
      if (part instanceof HTMLDetailsElement) part.open = true;
    }
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();

  // On paper nothing can be unfolded.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details.evidence:not([open])")];
    for (const part of folded) part.open = true;
  });
  addEventListener("afterprint", () => {
    for (const part of folded) part.open = false;
    folded = [];
  });

  // Buttons that choose rows of the table whose id they name.
  for (const group of document.querySelectorAll("[data-filters]")) {
    const rows = [...document.getElementById(group.dataset.filters).tBodies[0].rows];
    const buttons = [...group.querySelectorAll("button")];
    group.hidden = false;
    for (const button of buttons) {
      button.addEventListener("click", () => {
        for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
        const wanted = button.dataset.wanted;
        for (const row of rows) row.hidden = wanted !== "all" && row.dataset.is !== wanted;
      });
    }
  }

  // One stop for the tab key in each map; arrow keys go from point to point, and the panel says which it is.
  for (const map of document.querySelectorAll("[data-panel]")) {
    const panel = document.getElementById(map.dataset.panel);
    const points = [...map.querySelectorAll("a")];
    const show = (point) => {
      panel.textContent = point.querySelector("title").textContent;
    };
    points.forEach((point, place) => {
      point.setAttribute("tabindex", place ? "-1" : "0");
      point.addEventListener("mouseenter", () => show(point));
      point.addEventListener("focus", () => {
        for (const other of points) other.setAttribute("tabindex", other === point ? "0" : "-1");
        show(point);
      });
      point.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        points[(place + step + points.length) % points.length].focus();
      });
    });
  }
})();
