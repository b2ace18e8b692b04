package workflow_test

import "slices"

// A story is what happens, and the links that follow: "=" for those that are proved, "~" for those that are likely.
type story struct{ name, story, want string }

var stories = slices.Concat(firstStories, moreStories)

var firstStories = []story{
	{
		"fan-out to three agents, by the name of the orchestrator", `
		1 user>planner send
		2 planner>hotel send
		3 planner>flight send
		4 planner>car send
		3 answer task=f
		2 answer task=h
		4 answer task=c
		1 answer task=p`, `
		1
		2 under 1 of 1 ~ made while answering
		3 under 1 of 1 ~ made while answering
		4 under 1 of 1 ~ made while answering`,
	},
	{
		"fan-out with traceparent", `
		1 user>planner send trace=a/1
		2 planner>hotel send trace=a/2
		3 planner>flight send trace=a/3
		2 answer task=h
		3 answer task=f
		1 answer task=p`, `
		1
		2 under 1 of 1 = same trace
		3 under 1 of 1 = same trace`,
	},
	{
		"nested two deep", `
		1 user>planner send
		2 planner>hotel send
		3 hotel>payer send
		3 answer task=x
		2 answer task=h
		1 answer task=p`, `
		1
		2 under 1 of 1 ~ made while answering
		3 under 2 of 1 ~ made while answering`,
	},
	{
		"nested two deep with traceparent, named by their User-Agent", `
		1 user>planner send trace=a/1
		2 python>hotel send trace=a/2
		3 node>payer send trace=a/3
		3 answer task=x
		2 answer task=h
		1 answer task=p`, `
		1
		2 under 1 of 1 ~ same trace
		3 under 1 of 1 ~ same trace`,
	},
	{
		"a trace says to which of two requests a call belongs", `
		1 user>planner send trace=a/1
		2 user>planner send trace=b/1
		3 planner>hotel send trace=b/2
		4 planner>hotel send trace=a/2
		3 answer task=h
		4 answer task=i
		1 answer task=p
		2 answer task=q`, `
		1
		2
		3 under 2 of 2 = same trace
		4 under 1 of 1 = same trace`,
	},
	{
		"two side by side with equal texts: nothing is guessed", `
		1 user>planner send text=a_room_in_Kyoto_please
		2 user>planner send text=a_room_in_Kyoto_please
		3 planner>hotel send text=a_room_in_Kyoto_please
		4 planner>hotel send text=a_room_in_Kyoto_please
		3 answer task=h
		4 answer task=i
		1 answer task=p
		2 answer task=q`, `
		1
		2
		3 caused by 1 or 2: at the same time, without a common trace
		4 caused by 1 or 2: at the same time, without a common trace`,
	},
	{
		"two side by side with other texts that are handed on", `
		1 user>planner send text=a_room_in_Kyoto_please
		2 user>planner send text=a_room_in_Osaka_please
		3 planner>hotel send text=a_room_in_Osaka_please
		4 planner>hotel send text=another_thing
		3 answer task=h
		4 answer task=i
		1 answer task=p
		2 answer task=q`, `
		1
		2
		3 under 2 of 2 ~ same content
		4 caused by 1 or 2: at the same time, without a common trace`,
	},
	{
		"two side by side, whose contexts tell them apart in the end", `
		1 user>planner send
		2 user>planner send
		3 planner>hotel send context=c2
		4 planner>hotel send context=c1
		5 hotel>payer send
		5 answer task=y
		3 answer task=h
		4 answer task=i
		1 answer task=p context=c1
		2 answer task=q context=c2`, `
		1
		2
		3 under 2 of 2 = same context
		4 under 1 of 1 = same context
		5 caused by 3 or 4: at the same time, without a common trace`,
	},
	{
		"a context that the agent made proves what was likely", `
		1 user>planner send
		2 planner>hotel send context=c1
		2 answer task=h
		1 answer task=p context=c1`, `
		1
		2 under 1 of 1 = same context`,
	},
	{
		"a context that the user made is handed on by a client of another name", `
		1 user>planner send context=c1
		2 python>hotel send context=c1
		2 answer task=h
		1 answer task=p context=c1`, `
		1
		2 under 1 of 1 ~ same context`,
	},
	{
		"one client asks two agents in one context", `
		1 user>planner send context=c1
		2 user>hotel send context=c1
		2 answer task=h
		1 answer task=p context=c1`, `
		1
		2`,
	},
	{
		"a second request in the same context is another workflow", `
		1 user>planner send context=c1
		1 answer task=p context=c1
		2 user>planner send context=c1
		3 planner>hotel send context=c1
		3 answer task=h
		2 answer task=q context=c1`, `
		1
		2
		3 under 2 of 2 = same context`,
	},
	{
		"unless it continues a task of the first", `
		1 user>planner send context=c1
		1 answer task=p context=c1 state=input_required
		2 user>planner send context=c1 task=p
		3 planner>hotel send
		3 answer task=h
		2 answer task=p context=c1
		4 user>planner send context=c1 ref=p
		4 answer task=q context=c1
		5 user>hotel send ref=q
		5 answer task=i`, `
		1
		2 under 1 of 1 = same task
		3 under 2 of 1 ~ made while answering
		4
		5`,
	},
	{
		"references to two workflows say nothing", `
		1 user>planner send
		1 answer task=p
		2 user>hotel send
		2 answer task=p
		3 user>car send ref=p
		3 answer task=x`, `
		1
		2
		3`,
	},
	{
		"polls hang under the call that made the task, whoever makes them", `
		1 user>planner send
		2 planner>hotel send
		2 answer task=h state=working
		3 planner>hotel get task=h
		3 answer task=h state=working
		4 audit>hotel get task=h
		4 answer task=h
		1 answer task=p
		5 user>planner get task=p
		5 answer task=p`, `
		1
		2 under 1 of 1 ~ made while answering
		3 under 2 of 1 = same task
		4 under 2 of 1 = same task
		5 under 1 of 1 = same task`,
	},
	{
		"equal ids at two agents are two tasks", `
		1 user>planner send
		1 answer task=t1 state=working
		2 other>hotel send
		2 answer task=t1 state=working
		3 user>planner get task=t1
		3 answer task=t1
		4 other>hotel cancel task=t1
		4 answer task=t1 state=canceled`, `
		1
		2
		3 under 1 of 1 = same task
		4 under 2 of 2 = same task`,
	},
	{
		"a task from before the recording", `
		1 user>planner get task=t1
		1 answer task=t1 state=working
		2 user>planner get task=t1
		2 answer task=t1`, `
		1
		2 under 1 of 1 = same task`,
	},
	{
		"a list of tasks has made none of them", `
		1 user>planner list
		1 answer task=t1 state=working
		2 user>planner get task=t1
		2 answer task=t1`, `
		1
		2`,
	},
}
