// Before anything is drawn: the theme that was chosen, so that the page does not flash. No module, since those wait.
document.documentElement.dataset.theme = localStorage.getItem("tightrope-theme") ?? "";
