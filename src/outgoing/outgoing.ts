/** Encrypts secrets that the store keeps. `purpose` must be the same at both ends: a text cannot be moved elsewhere. */
export interface SecretBox {
  seal(text: string, purpose: string): string;
  /** Undefined for a text that this key did not encrypt for this purpose. */
  open(sealed: string, purpose: string): string | undefined;
}

export interface OutgoingMessage {
  readonly id: string;
  readonly url: string;
  readonly body: string;
  /** All that are valid; each makes a signature. */
  readonly secrets: readonly string[];
  readonly timestampSeconds: number;
  /** Whether it may go to the networks of SLUICE_WEBHOOK_NETWORKS. */
  readonly mayReachPrivate: boolean;
}

export type SendProblem = 'TIMEOUT' | 'NO_ALLOWED_ADDRESS' | 'CONNECTION_FAILED' | 'TLS_FAILED';

/** Nothing of the answer but its status, and whether it asks for no further attempt. */
export type SendResult =
  | { readonly kind: 'answered'; readonly status: number; readonly isAborted: boolean }
  | { readonly kind: 'failed'; readonly problem: SendProblem };

export interface WebhookSender {
  /** False for an address in numbers that no message may go to. Names are looked up when a message is sent. */
  mayReach(url: URL, mayReachPrivate: boolean): boolean;
  send(message: OutgoingMessage): Promise<SendResult>;
  close(): Promise<void>;
}
