export { errorInReply, isErrorBody, readErrorReply as readChatError } from '../read-error.ts'
