/* Which of the processes of its node this one is, as launchers tell it before MPI is initialized:
 * ranks of a node share its devices. */
#ifndef WEFT_SUPPORT_NODE_RANK_H
#define WEFT_SUPPORT_NODE_RANK_H

/* 0 without a launcher. */
int weft_node_rank(void);

#endif
