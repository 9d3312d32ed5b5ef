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

export type SendProblem =
  | 'TIMEOUT'
  | 'NO_ALLOWED_ADDRESS'
  | 'CONNECTION_FAILED'
  | 'TLS_FAILED'
  /** The service answered that it does not take the message. */
  | 'REFUSED'
  | 'NOT_CONFIGURED';

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

export interface PersonalMessage {
  /** The same on every attempt. */
  readonly id: string;
  readonly format: 'EMAIL' | 'SLACK_MEMBER';
  /** An address of mail, or the id of a member. */
  readonly address: string;
  readonly body: string;
}

/** Messages to one person, with the credentials of the server. */
export interface PersonalSender {
  readonly canSend: Readonly<Record<PersonalMessage['format'], boolean>>;
  send(message: PersonalMessage): Promise<SendResult>;
}
