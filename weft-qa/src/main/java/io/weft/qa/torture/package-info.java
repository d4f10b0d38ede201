// SPDX-License-Identifier: Apache-2.0
/// Repeated harm to real jobs of real processes at random moments. The end of each job is checked:
/// the rank that was named, the time, and the remaining processes and files. `docs/testing.md`
/// explains the usage.
@NullMarked
package io.weft.qa.torture;

import org.jspecify.annotations.NullMarked;
