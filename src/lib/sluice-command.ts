/** The command to type for `sluice`: after npx or npm run it may not be on the PATH. */
export const SLUICE = process.env['npm_command'] === undefined ? 'sluice' : 'npx sluice';
