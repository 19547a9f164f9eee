// The search runs in a worker, and a page that was opened from disk may have none: there, a hidden frame stands in for it.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      // What a worker's script finds around it.
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...scripts) => Promise.all(scripts.map(script => run(inside, script)));
      this.inside = inside;
      this.ready = run(inside, url);
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}

function run(inside, url) {
  return new Promise((loaded, failed) => {
    const script = inside.document.createElement("script");
    script.src = url;
    script.onload = loaded;
    script.onerror = failed;
    inside.document.body.append(script);
  });
}
