export { argumentsOf } from './arguments-of.js';
export { drawForm } from './draw/draw-form.js';
export { withFaults, withOtherFaults } from './faults.js';
export type { Form, Press } from './form.js';
export { formOf } from './form-of.js';
export { isMending } from './is-mending.js';
export { FORM_BINDINGS, isFormKey } from './keys.js';
export { pressForm, wantsRun } from './press.js';
export { reformed } from './reformed.js';
