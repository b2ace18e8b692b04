// Package prompt puts a prompt to an agent and brings back one final answer, whatever way the agent takes to it: a
// message, a task that is complete at once, a task that has to be polled, or a stream whose chunks are joined.
//
// [Ask] and [Follow] return an [Answer]. Its Text is what a person would read; its events, its task and its raw JSON
// hold everything else. A task that failed is an answer too: the caller decides what that means. An error means that
// there is no final answer, and then the answer that comes with it holds what there was.
package prompt
