// SPDX-License-Identifier: Apache-2.0
/// The tool that trains one of the papers' workloads as one rank of a job. It takes a command line
/// and returns an exit code. Confined to one thread.
@NullMarked
package io.weft.workloads;

import org.jspecify.annotations.NullMarked;
