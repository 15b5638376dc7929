// A formula that is wider than its paragraph is moved sideways by itself (site.css: .long), on a phone most of all.
function fit() {
  const formulas = [...document.querySelectorAll('.content mjx-container:not([display="true"])')];
  formulas.forEach((formula) => formula.classList.remove("long"));
  const long = formulas.filter((formula) => {
    const around = formula.closest("p, li, dd, h2, h3");
    return around && !around.closest("td") && formula.getBoundingClientRect().width > around.clientWidth;
  });
  long.forEach((formula) => formula.classList.add("long"));
}

addEventListener("load", () => {
  if (window.MathJax?.startup?.promise) {
    MathJax.startup.promise.then(fit);
    addEventListener("resize", fit);
  }
});
