// Requests to the page's own server. The token travels in a cookie that scripts cannot read.

export class Refused extends Error {}

const UNREACHABLE =
  "The server does not answer, so nothing was saved. Your choice is kept here: start it again, open the new address.";

async function ask(method, path, body) {
  const options = { method, headers: {}, credentials: "same-origin" };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let reply;
  try {
    reply = await fetch(path, options);
  } catch {
    throw new Refused(UNREACHABLE);
  }
  const text = await reply.text();
  let content;
  try {
    content = JSON.parse(text);
  } catch {
    content = { error: text.trim() || `The server answered with status ${reply.status}.` };
  }
  if (!reply.ok) throw new Refused(content.error);
  return content;
}

const of = (annotator) => `?annotator=${encodeURIComponent(annotator)}`;

export const session = () => ask("GET", "api/session");
export const tasks = (annotator) => ask("GET", `api/tasks${of(annotator)}`);
export const texts = (annotator, id) => ask("GET", `api/tasks/${id}${of(annotator)}`);
export const judge = (annotator, id, verdict) => ask("PUT", `api/tasks/${id}`, { annotator, verdict });
export const remove = (annotator, id) => ask("DELETE", `api/tasks/${id}${of(annotator)}`);
