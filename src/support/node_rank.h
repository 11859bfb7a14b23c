/* Which of the processes of its node this one is, as launchers tell it before MPI is initialized:
 * ranks of a node share its devices. */
#ifndef WEFT_SUPPORT_NODE_RANK_H
#define WEFT_SUPPORT_NODE_RANK_H

/* This process's rank on its node; 0 without a launcher. */
int weft_node_rank(void);

/* How many processes the launcher started on this node; 1 without a launcher, or where it does not
 * tell. */
int weft_node_ranks(void);

#endif
