// What an agent does about a text: a list of moves, the same in every language of this directory's neighbours.

/**
 * Returns the moves for a text. A task that has been asked back about takes any text for an answer.
 *
 * @param {string} text
 * @param {boolean} answered
 */
export function moves(text, answered) {
  if (answered) {
    return [{ do: "produce", text: `colour: ${text}`, last: true }, { do: "complete" }];
  }
  switch (text.split(" ")[0]) {
    case "work":
      return [{ do: "open" }, { do: "work" }, { do: "produce", text: "done", last: true }, { do: "complete" }];
    case "stream":
      return [
        { do: "open" },
        { do: "work" },
        { do: "produce", text: "one" },
        { do: "pause" },
        { do: "produce", text: " two", append: true },
        { do: "pause" },
        { do: "produce", text: " three", append: true, last: true },
        { do: "complete" },
      ];
    case "poll":
      return [
        { do: "open" },
        { do: "work" },
        { do: "pause" },
        { do: "produce", text: "polled", last: true },
        { do: "complete" },
      ];
    case "ask":
      return [{ do: "open" }, { do: "inputRequired", text: "which colour?" }];
    case "wait":
      return [{ do: "open" }, { do: "work" }, { do: "hold" }];
    case "fail":
      return [{ do: "open" }, { do: "work" }, { do: "fail", text: "out of paint" }];
    case "release":
      return [{ do: "say", text: "released" }];
    default:
      return [{ do: "say", text: `you said ${text}` }];
  }
}

/** Gates hold back tasks until a client lets them go on. */
export class Gates {
  #byTask = new Map();

  #gate(task) {
    if (!this.#byTask.has(task)) {
      this.#byTask.set(task, { released: 0, waiting: [] });
    }
    return this.#byTask.get(task);
  }

  /** Resolves when the task is released, once for each release. */
  async pass(task) {
    const gate = this.#gate(task);
    if (gate.released > 0) {
      gate.released--;
      return;
    }
    await new Promise((resolve) => gate.waiting.push(resolve));
  }

  /** Releases the task that a text of the form "release TASK" names; other texts release nothing. */
  open(text) {
    if (!text.startsWith("release ")) {
      return;
    }
    const gate = this.#gate(text.slice("release ".length));
    const waiting = gate.waiting.shift();
    if (waiting) {
      waiting();
    } else {
      gate.released++;
    }
  }
}

/**
 * Makes the moves for a text. The emitter turns a move into the SDK's event and publishes it; hold resolves when the
 * task is cancelled.
 */
export async function act(text, answered, { gates, task, emit, hold }) {
  gates.open(text);
  for (const move of moves(text, answered)) {
    switch (move.do) {
      case "pause":
        await gates.pass(task);
        break;
      case "hold":
        await hold();
        return;
      default:
        emit(move);
    }
  }
}

/** The states that moves report, in the spelling of A2A 0.3. */
export const states = {
  work: "working",
  inputRequired: "input-required",
  complete: "completed",
  fail: "failed",
};
