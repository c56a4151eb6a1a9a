// A request as it would be sent from a shell, and from Python.

import { hasToken } from "./api.js";

export function curl(path, body) {
  const quoted = JSON.stringify(body).replaceAll("'", "'\\''");
  const lines = [`curl ${location.origin}${path}`, "-H 'Content-Type: application/json'"];
  if (hasToken()) lines.push('-H "Authorization: Bearer $DACTNLG_TOKEN"');
  return [...lines, `-d '${quoted}'`].join(" \\\n  ");
}

export function python(path, body) {
  const token = hasToken();
  return [
    ...(token ? ["import os", ""] : []),
    "import requests",
    "",
    "answer = requests.post(",
    `    ${JSON.stringify(location.origin + path)},`,
    `    json=${literal(body)},`,
    ...(token ? ['    headers={"Authorization": f"Bearer {os.environ[\'DACTNLG_TOKEN\']}"},'] : []),
    "    timeout=30,",
    ")",
    "answer.raise_for_status()",
    'for result in answer.json()["results"]:',
    '    print(result["text"])',
  ].join("\n");
}

// A string in JSON is one in Python, too.
function literal(value) {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${literal(one)}`).join(", ")}}`;
}

// Returns whether a text is in the clipboard now; without a secure address there is only the old way.
export async function copied(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    const range = document.createRange();
    range.selectNodeContents(element);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    return document.execCommand("copy");
  }
}
