// What waits on this device for the lab: in IndexedDB, or, where the browser keeps nothing (a private window, a full
// disk, data cleared), in this page for as long as it is open.
import { uuid } from "./console_page.js";

const NAME = "groundlab-console";
const STORE = "outbox";

export class Store {
  unkept = [];

  constructor(onUnsafe) {
    this.onUnsafe = onUnsafe;
    this.database = open();
    this.database.then((database) => database ?? onUnsafe());
  }

  async all() {
    const kept = await this.within("readonly", (store) => store.getAll()).catch(() => []);
    return [...kept, ...this.unkept];
  }

  // What comes after something unkept is unkept too: the order is that of the decisions.
  async add(entry) {
    const isKept = this.unkept.length === 0 && (await this.within("readwrite", (store) => store.add(entry)).then(() => true, () => false));
    if (isKept) return;
    this.unkept.push({ ...entry, order: uuid() });
    this.onUnsafe();
  }

  async remove({ order }) {
    const isUnkept = this.unkept.some((entry) => entry.order === order);
    if (isUnkept) this.unkept = this.unkept.filter((entry) => entry.order !== order);
    else await this.within("readwrite", (store) => store.delete(order));
  }

  // Written once the whole transaction is: a full disk shows only then.
  async within(mode, act) {
    const database = await this.database;
    if (!database) throw new Error("this browser keeps nothing");
    const transaction = database.transaction(STORE, mode);
    const request = act(transaction.objectStore(STORE));
    return new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
    });
  }
}

// The database, null where it is refused.
async function open() {
  try {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "order", autoIncrement: true });
    return await new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  } catch {
    return null;
  }
}
