/** Repeats a read. The server sends the answer only if it differs from `last`. */
// SPEC H51
export async function readAgain<Body extends object, Answer extends { readonly version?: string }>(
  ask: (body: Body & { readonly ifVersion?: string }) => Promise<Answer>,
  body: Body,
  last: Answer | undefined,
): Promise<Answer> {
  const answer = await ask(last?.version === undefined ? body : { ...body, ifVersion: last.version });
  return last !== undefined && 'unchanged' in answer ? last : answer;
}
