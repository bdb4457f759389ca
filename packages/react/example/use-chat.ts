/** The host's chat: messages and the state of the answer. It knows nothing of checkpoints. */
import type { StreamingStatus } from "@belay/react";
import { useState } from "react";

/** One line of the chat. */
export interface Message {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly text: string;
  /** Taken back: shown struck, and still there. */
  readonly isGone?: boolean;
}

/** The chat, and how to send. */
export function useChat() {
  const [messages, setMessages] = useState<readonly Message[]>([]);
  const [status, setStatus] = useState<StreamingStatus>("ready");
  const say = (id: string, text: string) =>
    setMessages((before) =>
      before.some((each) => each.id === id)
        ? before.map((each) => (each.id === id ? { ...each, text: each.text + text } : each))
        : [...before, { id, role: "assistant", text }],
    );
  const show = (id: string, text: string) => setMessages((before) => [...before, { id, role: "user", text }]);
  const send = async (conversation: string, id: string, text: string) => {
    setStatus("submitted");
    try {
      const answer = await fetch("/chat", {
        method: "POST",
        body: JSON.stringify({ conversation, id, text }),
      });
      const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
      setStatus("streaming");
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        say(`${id}-answer`, value);
      }
      setStatus("ready");
    } catch (error) {
      say(`${id}-answer`, ` (${(error as Error).message})`);
      setStatus("error");
    }
  };
  /** Strikes a message and all that came after it. */
  const takeBack = (id: string) =>
    setMessages((before) => {
      const from = before.findIndex((each) => each.id === id);
      return before.map((each, index) => (index < from ? each : { ...each, isGone: true }));
    });
  return { messages, status, show, send, takeBack };
}
