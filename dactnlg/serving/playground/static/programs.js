// The request as a shell command and as a Python program.

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

// A JSON string is also a Python string.
function literal(value) {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${literal(one)}`).join(", ")}}`;
}

// Copies a text to the clipboard and returns whether it worked; insecure origins need the legacy way.
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
