package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "d7beb06bd2a2c588"
