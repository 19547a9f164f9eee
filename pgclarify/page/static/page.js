
// The page where people ask. Without this script, links and buttons load the page anew.
(() => {
  // A part of the page, as HTML; null if the answer is none.
  const read = async (address, options) => {
    const answer = await fetch(address, options);
    return answer.ok && answer.status === 200 ? answer.text() : null;
  };
  const withPart = (address, part) => {
    const url = new URL(address, location.href);
    url.searchParams.set("part", part);
    url.hash = "";
    return url;
  };

  const pane = document.getElementById("document");
  // A quote shows its document beside the readings, which stay where they are.
  const mark = (address) => {
    const wanted = new URL(address, location.href);
    for (const link of document.querySelectorAll("main a[data-shows='document']")) {
      if (link.search === wanted.search) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    const back = new URLSearchParams(wanted.search);
    const place = back.has("quote") ? `quote=${back.get("quote")}` : `passage=${back.get("passage")}`;
    for (const form of document.querySelectorAll("form.rating")) {
      const field = form.elements.namedItem("back") ?? form.appendChild(document.createElement("input"));
      field.type = "hidden";
      field.name = "back";
      field.value = place;
    }
  };
  const show = async (address) => {
    const html = await read(withPart(address, "document")).catch(() => null);
    if (html === null) {
      location.assign(address);
      return;
    }
    pane.innerHTML = html;
    history.pushState(null, "", address);
    mark(address);
    pane.scrollTop = 0;
    reveal(document.getElementById("quote") ?? pane);
  };
  // On a wide screen only the document moves.
  const reveal = (part) => {
    if (part !== pane && getComputedStyle(pane).position === "sticky") {
      pane.scrollTop += part.getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 2;
    } else {
      part.scrollIntoView({ block: part === pane ? "start" : "center" });
    }
    part.focus({ preventScroll: true });
  };
  addEventListener("click", (event) => {
    const link = event.target.closest("a[data-shows='document']");
    if (!pane || !link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    show(link.href);
  });
  addEventListener("popstate", () => {
    if (location.hash === "" || location.hash === "#quote") location.reload();
  });
  // From the document back to the quote that led to it.
  addEventListener("click", (event) => {
    if (!event.target.closest("a.back")) return;
    const link = document.querySelector("main a[aria-current='true'][data-shows='document']");
    if (!link) return;
    event.preventDefault();
    link.scrollIntoView({ block: "center" });
    link.focus({ preventScroll: true });
  });
  if (pane && /[?&](quote|passage)=/.test(location.search)) {
    mark(location.href);
    const quote = document.getElementById("quote");
    if (quote && location.hash === "#quote") reveal(quote);
  }

  // The estimate stands below the question, without a new page.
  const ask = document.getElementById("ask");
  ask?.addEventListener("submit", async (event) => {
    const button = event.submitter;
    if (button?.dataset.shows !== "estimate") return;
    event.preventDefault();
    button.disabled = true;
    const body = new URLSearchParams(new FormData(ask));
    const html = await read("/estimate?part=estimate", { method: "POST", body }).catch(() => null);
    button.disabled = false;
    if (html !== null) document.getElementById("estimate").innerHTML = html;
  });
  // If a language model reads, the estimate follows what is typed.
  let typed;
  const expect = () => {
    clearTimeout(typed);
    typed = setTimeout(() => {
      if (ask.checkValidity()) ask.requestSubmit(ask.querySelector("[data-shows='estimate']"));
    }, 1200);
  };
  if (ask?.dataset.costs) ask.addEventListener("input", expect);
  // Enter asks; with Shift it begins a line.
  document.getElementById("question")?.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    ask.requestSubmit(ask.querySelector("button.main"));
  });

  // How far the run is, until it is over.
  const progress = document.getElementById("progress");
  const look = async (pause) => {
    try {
      const answer = await fetch(progress.dataset.address);
      if (answer.status === 204) {
        location.reload();
        return;
      }
      const html = answer.ok ? await answer.text() : null;
      // A button that has the focus must not vanish under it.
      const isFocused = progress.contains(document.activeElement);
      if (html !== null && html !== progress.innerHTML) progress.innerHTML = html;
      if (isFocused) progress.querySelector("button")?.focus();
    } catch {
      // The page may be back in a moment.
    }
    setTimeout(look, pause, Math.min(pause * 1.3, 3000));
  };
  if (progress) setTimeout(look, 150, 250);
})();
