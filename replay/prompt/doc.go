// Package prompt sends a prompt to an agent and returns one final answer, regardless of how the agent delivers it: a
// message, a task that is complete at once, a task that has to be polled, or a stream whose chunks are joined.
//
// [Ask] and [Follow] return an [Answer]. Its Text is for people; its events, its task and its raw JSON have everything
// else. A failed task is an answer too: the caller decides what that means. An error means that there is no final
// answer; the Answer returned with it then has what was received.
package prompt
