package workflow_test

// references are stories about messages that refer to tasks.
var references = []story{
	{
		"the turns of a conversation do not cause each other", `
		1 user>planner send
		1 answer task=a
		2 user>planner send ref=a
		2 answer task=b
		3 user>planner send ref=b
		3 answer task=c
		4 user>hotel send ref=c
		4 answer task=d`, `
		1
		2
		3
		4`,
	},
	{
		"nor do they if only a library is known, or if the next turn comes while a task is at work", `
		1 ?python>planner send
		1 answer task=a state=working
		2 ?python>planner send ref=a
		2 answer task=b state=working
		3 ?python>hotel send ref=b
		3 answer task=c`, `
		1
		2
		3`,
	},
	{
		"the turns of an agent are children of the call that it answers", `
		1 user>planner send
		2 planner>hotel send
		2 answer task=h
		3 planner>hotel send ref=h
		3 answer task=i
		4 planner>car send ref=i
		4 answer task=c
		1 answer task=p`, `
		1
		2 under 1 of 1 ~ made while answering
		3 under 1 of 1 ~ refers to a related task
		4 under 1 of 1 ~ refers to a related task`,
	},
	{
		"of two calls that an agent answers, it continues the one for which it asked for the task", `
		1 ann>planner send
		2 planner>hotel send
		2 answer task=h
		3 bob>planner send
		4 planner>hotel send ref=h
		4 answer task=i
		3 answer task=q
		1 answer task=p`, `
		1
		2 under 1 of 1 ~ made while answering
		3
		4 under 1 of 1 ~ refers to a related task`,
	},
	{
		"the next turn is for the next request, whatever it refers to", `
		1 user>planner send
		2 planner>hotel send
		2 answer task=h
		1 answer task=p
		3 user>planner send ref=p
		4 planner>hotel send ref=h
		4 answer task=i
		3 answer task=q`, `
		1
		2 under 1 of 1 ~ made while answering
		3
		4 under 3 of 3 ~ made while answering`,
	},
	{
		"an agent that refers to the task on which it works", `
		1 ann>planner send
		1 event k=1 first=y task=p state=working
		2 bob>planner send
		2 event k=1 first=y task=q state=working
		3 planner>hotel send ref=q
		3 answer task=h`, `
		1
		2
		3 under 2 of 2 = refers to its task`,
	},
	{
		"the same, after the task was continued", `
		1 ann>planner send
		1 answer task=p state=input_required
		2 bob>planner send
		3 ann>planner send task=p
		4 planner>hotel send ref=p
		4 answer task=h
		3 answer task=p
		2 answer task=q`, `
		1
		2
		3 under 1 of 1 = same task
		4 under 3 of 1 = refers to its task`,
	},
	{
		"an agent that passes a reference on", `
		1 user>hotel send
		1 answer task=h
		2 ann>planner send
		3 bob>planner send ref=h
		4 planner>hotel send ref=h
		4 answer task=i
		3 answer task=q
		2 answer task=p`, `
		1
		2
		3
		4 under 3 of 3 ~ refers to a related task`,
	},
	{
		"an agent that passes on a reference to a task of another agent at work", `
		1 user>hotel send
		1 event k=1 first=y task=h state=working
		2 user>planner send
		3 planner>car send ref=h
		3 answer task=c
		2 answer task=p`, `
		1
		2
		3 under 2 of 2 ~ made while answering`,
	},
	{
		"one that works on the task, and answers a question about it", `
		1 user>planner send
		1 event k=1 first=y task=p state=working
		2 user>planner send ref=p
		3 planner>hotel send ref=p
		3 answer task=h`, `
		1
		2
		3 caused by 1 or 2: at the same time, without a common trace`,
	},
	{
		"an unknown program of another library may be the agent", `
		1 ?curl>planner send
		1 event k=1 first=y task=p state=working
		2 ?node>hotel send
		3 ?python>car send ref=p
		3 answer task=c`, `
		1
		2 unknown caller
		3 under 1 of 1 ~ refers to a related task`,
	},
	{
		"or the client, if that was known by its process", `
		1 user>planner send
		1 event k=1 first=y task=p state=working
		2 ?python>car send ref=p
		2 answer task=c`, `
		1
		2 unknown caller`,
	},
	{
		"another user who continues what is over", `
		1 ann>planner send
		1 answer task=p
		2 bob>planner send ref=p
		2 answer task=q
		3 ?curl>planner send ref=q
		3 answer task=r`, `
		1
		2
		3`,
	},
	{
		"two agents whose tasks have the same id", `
		1 ann>planner send
		1 event k=1 first=y task=t1 state=working
		2 bob>planner send
		3 planner>hotel send
		3 answer task=t1
		4 planner>hotel send ref=t1
		4 answer task=t2`, `
		1
		2
		3 caused by 1 or 2: at the same time, without a common trace
		4 caused by 1 or 2: at the same time, without a common trace`,
	},
	{
		"the lost traffic may have been about the task, too: but it is the agent's own", `
		1 ann>planner send
		1 event k=1 first=y task=p state=working
		2 bob>planner send ref=x
		0 lost
		3 planner>hotel send ref=p
		4 planner>hotel send ref=x`, `
		1
		2
		3 under 1 of 1 = refers to its task
		4`,
	},
}
