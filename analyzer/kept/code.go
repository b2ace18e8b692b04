package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "96a937c40b2f93fb"
