// Sends a chosen folder file by file, with progress, then the form with the token of what was sent.
const form = document.getElementById("import");
const folder = document.getElementById("folder");
const drop = document.getElementById("drop");
const bar = document.getElementById("upload-progress");
const problem = document.getElementById("upload-error");
const token = form.elements.upload;
const csrf = form.elements.csrfmiddlewaretoken.value;
const WANTED = /(^|\/)(meta|data|videos|images)\//;
let files = []; // [{path, file}]

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

function choose(found) {
  files = found.filter(({ path }) => WANTED.test(path) && !path.split("/").some((part) => part.startsWith(".")));
  token.value = "";
  problem.textContent = "";
  const total = files.reduce((sum, { file }) => sum + file.size, 0);
  const chosen = document.getElementById("chosen");
  if (!found.length) return;
  if (!files.some(({ path }) => path.endsWith("meta/info.json"))) {
    files = [];
    problem.textContent = "There is no meta/info.json in this folder: choose the dataset's top folder.";
    return;
  }
  const top = files[0].path.split("/")[0];
  chosen.textContent = `${top}: ${files.length} files, ${megabytes(total)}`;
  if (!form.elements.name.value) form.elements.name.value = top.toLowerCase().replace(/[^\w-]+/g, "-");
}

folder.addEventListener("change", () =>
  choose([...folder.files].map((file) => ({ path: file.webkitRelativePath || file.name, file }))),
);
document.getElementById("choose").addEventListener("click", () => folder.click());

async function filesOf(entry) {
  if (entry.isFile) {
    const file = await new Promise((done, failed) => entry.file(done, failed));
    return [{ path: entry.fullPath.slice(1), file }];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const batch = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!batch.length) return found;
    for (const inner of batch) found.push(...(await filesOf(inner)));
  }
}

for (const kind of ["dragover", "dragleave", "drop"]) {
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", kind === "dragover");
  });
}
drop.addEventListener("drop", async (event) => {
  const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
  choose((await Promise.all(entries.map(filesOf))).flat());
});

function put(url, file, onProgress) {
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    request.open("PUT", url);
    request.setRequestHeader("X-CSRFToken", csrf);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.addEventListener("progress", (event) => onProgress(event.loaded));
    request.addEventListener("load", () => (request.status < 300 ? done() : failed(new Error(answer(request)))));
    request.addEventListener("error", () => failed(new Error("the connection broke")));
    request.send(file);
  });
}

function answer(request) {
  try {
    return Object.values(JSON.parse(request.responseText)).flat().join(" ");
  } catch {
    return `the server answered ${request.status}`;
  }
}

function show(sent, total, count) {
  bar.hidden = false;
  bar.querySelector("span").style.width = `${(100 * sent) / Math.max(total, 1)}%`;
  bar.querySelector("small").textContent = `${megabytes(sent)} of ${megabytes(total)}, ${count} of ${files.length} files`;
}

async function send() {
  const begun = await fetch(form.dataset.uploads, { method: "POST", headers: { "X-CSRFToken": csrf } });
  if (!begun.ok) throw new Error(`the server answered ${begun.status}`);
  const name = (await begun.json()).token;
  const total = files.reduce((sum, { file }) => sum + file.size, 0);
  let sent = 0;
  for (const [index, { path, file }] of files.entries()) {
    const address = `${form.dataset.uploads}${encodeURIComponent(name)}/${path.split("/").map(encodeURIComponent).join("/")}`;
    await put(address, file, (loaded) => show(sent + loaded, total, index));
    sent += file.size;
    show(sent, total, index + 1);
  }
  return name;
}

form.addEventListener("submit", async (event) => {
  if (!files.length || token.value) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const button = form.querySelector("button.primary");
  button.disabled = true;
  problem.textContent = "";
  try {
    token.value = await send();
    form.elements.files.disabled = true;
    form.requestSubmit();
  } catch (error) {
    problem.textContent = `The upload stopped: ${error.message}. Import sends it again.`;
  } finally {
    button.disabled = false;
  }
});

document.getElementById("folder-field").hidden = false;
if (token.value) document.getElementById("chosen").textContent = "The files you sent are kept; correct the form and import.";
