// What is wider than its place is moved sideways by itself, on a phone most of all: with a finger, or with the keyboard.
const SCROLLED = '.content :is(pre, .table-wrapper, mjx-container.long, mjx-container[display="true"])';

function fit() {
  const formulas = [...document.querySelectorAll('.content mjx-container:not([display="true"])')];
  formulas.forEach((formula) => formula.classList.remove("long")); // site.css: .long
  const long = formulas.filter((formula) => {
    const around = formula.closest("p, li, dd, h2, h3");
    return around && !around.closest("td") && formula.getBoundingClientRect().width > around.clientWidth;
  });
  long.forEach((formula) => formula.classList.add("long"));
  for (const place of document.querySelectorAll(SCROLLED)) {
    const hidden = place.scrollWidth > place.clientWidth || place.scrollHeight > place.clientHeight;
    if (hidden) place.tabIndex = 0;
    else place.removeAttribute("tabindex");
  }
}

addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  fit();
  addEventListener("resize", fit);
});
