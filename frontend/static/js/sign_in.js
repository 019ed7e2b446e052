// On every page where people sign in: what this device keeps of a console belongs to whoever was here before.
import { forget } from "./console_kept.js";

forget();
for (const form of document.querySelectorAll("form")) form.addEventListener("submit", forget);
