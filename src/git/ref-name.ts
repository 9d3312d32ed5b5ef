const MAX_BRANCH_BYTES = 200;

/** Without starting git. Names that pass cannot be read as an option, a range or two lines. */
export function isBranchName(name: string): boolean {
  return (
    name.length > 0 &&
    name.isWellFormed() &&
    Buffer.byteLength(name) <= MAX_BRANCH_BYTES &&
    !name.startsWith('-') &&
    // biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses exactly these.
    !/[\u0000-\u0020\u007f~^:?*[\\]/.test(name) &&
    !name.includes('..') &&
    !name.includes('@{') &&
    !name.endsWith('.') &&
    name.split('/').every(isComponent)
  );
}

function isComponent(component: string): boolean {
  return component !== '' && !component.startsWith('.') && !component.endsWith('.lock');
}

export function branchRef(branch: string): string {
  return `refs/heads/${branch}`;
}
