/** The reason of a check if acknowledgements were late only beside other calls, which depends on the machine; no other finding matches. */
export const LATE_UNDER_LOAD =
  /^(?:the 200 (?:took \S+|came after the result) under load, and [^;]*(?:; and \d+ more)?(?:; |$))+$/;
