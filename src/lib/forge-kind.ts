/** The kinds of forges with accounts. Their names are part of the addresses of webhooks and of files. */
export type ForgeKind = 'github' | 'gitea' | 'gitlab';
