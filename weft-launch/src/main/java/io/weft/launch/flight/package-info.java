// SPDX-License-Identifier: Apache-2.0
/// What the flight logs of a job's ranks say together: who never submitted what, who was gone, who
/// was last seen doing what. Pure, but for the reading of files; any thread.
@NullMarked
package io.weft.launch.flight;

import org.jspecify.annotations.NullMarked;
