package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
<<<<<<< HEAD
const code = "c8f5ab2b60f6a294"
=======
const code = "33d364a5d16edb86"
>>>>>>> main
