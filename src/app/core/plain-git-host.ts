export const PLAIN_GIT_HOST = 'local';
