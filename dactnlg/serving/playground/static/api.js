// Requests to the service; errors are problems (RFC 9457).

let token = "";

export function setToken(given) { token = given; }
export function hasToken() { return token !== ""; }

export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || `the service answers with status ${status}`);
    this.status = status;
    this.body = body;
  }
}

// Returns the answer to a request, a POST if there is a body.
export async function ask(path, body, signal) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const request = { headers, signal };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    Object.assign(request, { method: "POST", body: JSON.stringify(body) });
  }
  let response;
  try {
    response = await fetch(path, request);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { detail: "the service does not answer" });
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Problem(response.status, answer);
  return answer;
}
