// SPDX-License-Identifier: Apache-2.0
/// The tool that trains one of the papers' workloads on this process's job: command line in, exit
/// code out. One thread.
@NullMarked
package io.weft.workloads;

import org.jspecify.annotations.NullMarked;
