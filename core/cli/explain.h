/*
 * Why a request waits, and what a node does: what can be told from ZooKeeper alone, which launchers
 * on all hosts write to.
 */
#pragma once

#include "cli/command.h"

/* Each prints it, and returns the exit status. */
int drover_explain_request(DroverCli *cli, const char *id);
int drover_explain_node(DroverCli *cli, const char *id);

/* One more sentence of what was found out. */
void drover_finding_add(json_t *findings, const char *format, ...) G_GNUC_PRINTF(2, 3);
void drover_findings_print(const json_t *findings);

/* A table of objects with "provider", "pool", "verdict", "since" and "reason". */
void drover_verdict_table_print(const json_t *verdicts);
