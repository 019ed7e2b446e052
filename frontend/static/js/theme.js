// Sets the theme before the first paint (loaded without defer), and keeps the choice of the person.
(() => {
  const KEY = "groundlab.theme";
  const preferred = () => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const stored = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // storage can be forbidden; the theme then follows the system
    }
  };
  const apply = (theme) => {
    document.documentElement.dataset.theme = theme;
    document.dispatchEvent(new CustomEvent("themechange", { detail: theme }));
  };

  apply(stored() ?? preferred());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => stored() ?? apply(preferred()));

  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-toggle-theme]")) return;
    const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // the choice lasts for this page only
    }
    apply(theme);
  });
})();
